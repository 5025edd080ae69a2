import { readFileSync } from "node:fs";

/** A text file that belongs to the program, by its path from the root. The build puts a module with all of them here instead (scripts/build.ts). */
export const packagedFile = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
