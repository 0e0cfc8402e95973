// The whole page must stay light: it may be opened over a slow tunnel on a bad day.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT = 120_000;
const root = new URL("../../src/tidegate/page/", import.meta.url).pathname;
const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const sizes = files.map((entry) => gzipSync(readFileSync(join(entry.parentPath, entry.name))).length);
const total = sizes.reduce((sum, size) => sum + size, 0);
console.log(`the page weighs ${total} bytes gzipped, in ${files.length} files (limit ${LIMIT})`);
if (total > LIMIT) {
    console.error(`that is ${total - LIMIT} bytes too many`);
    process.exit(1);
}
