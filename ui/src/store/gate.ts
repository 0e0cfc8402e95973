// Something to wait for that comes and goes, such as an open connection.

export class Gate {
    private isOpen = false;
    private waiting: (() => void)[] = [];

    open(): void {
        this.isOpen = true;
        for (const go of this.waiting.splice(0)) go();
    }

    close(): void {
        this.isOpen = false;
    }

    /** Resolves once it is open, or after `most` milliseconds. */
    passed(most: number): Promise<void> {
        if (this.isOpen) return Promise.resolve();
        return new Promise((done) => {
            this.waiting.push(done);
            setTimeout(done, most);
        });
    }
}
