import { useEffect, useRef } from "preact/hooks";
import type { LogEntry } from "../api/types";
import { asSeconds } from "../logic/moments";
import { Command } from "../parts/command";
import { useJobLog } from "../store/job_log";

const MOST_LINES = 300;

type Props = {
    label: string;
    job: Parameters<typeof useJobLog>[0];
    transfers: Parameters<typeof useJobLog>[1];
    command: string;
};

/** Lines as they come, the newest at the end and in view, unless somebody has scrolled up to read. */
export function JobLog({ label, job, transfers, command }: Props) {
    const list = useRef<HTMLUListElement>(null);
    const atEnd = useRef(true);
    const lines = useJobLog(job, transfers);
    useEffect(() => {
        if (atEnd.current) list.current?.scrollTo(0, list.current.scrollHeight);
    }, [lines.length]);
    const onScroll = () => {
        const { scrollTop, scrollHeight, clientHeight } = list.current!;
        atEnd.current = scrollHeight - scrollTop - clientHeight < 24;
    };
    return (
        <div class="stack">
            <ul class="log" ref={list} tabIndex={0} role="log" aria-label={label} onScroll={onScroll}>
                {lines.slice(-MOST_LINES).map((line) => (
                    <Line key={`${line.at}${line.who}${line.what}${line.message}`} line={line} />
                ))}
            </ul>
            <Command text={command} />
        </div>
    );
}

const Line = ({ line }: { line: LogEntry }) => (
    <li data-bad={line.bad || undefined} title={line.at}>
        <time dateTime={line.at}>{asSeconds(Date.parse(line.at))}</time>
        <span>{line.who}</span>
        <b>{line.what}</b>
        <span>{line.message}</span>
    </li>
);
