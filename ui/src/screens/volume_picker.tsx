import type { Transfer } from "../store/resources";

type Props = { uploads: Transfer[]; chosen: Transfer; choose: (upload: Transfer) => void };

export const volumeOf = (upload: Transfer): string => `${upload.spec.volumeNamespace}/${upload.spec.volumeName}`;

/** Which volume of a backup is looked at; nothing to choose where there is one. */
export function VolumePicker({ uploads, chosen, choose }: Props) {
    if (uploads.length < 2) return <span class="muted">{volumeOf(chosen)}</span>;
    return (
        <select
            class="input"
            aria-label="Volume"
            value={chosen.metadata.name}
            onChange={(event) => {
                const name = event.currentTarget.value;
                const found = uploads.find((one) => one.metadata.name === name);
                if (found) choose(found);
            }}
        >
            {uploads.map((one) => (
                <option key={one.metadata.uid} value={one.metadata.name}>
                    {volumeOf(one)}
                </option>
            ))}
        </select>
    );
}
