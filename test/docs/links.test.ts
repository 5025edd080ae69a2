import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";
import { root } from "./page.ts";

const markdownBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => join(folder, name));

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["docs", "test", "sandbox", ".github"].flatMap(markdownBelow),
];

/** As GitHub makes them of headings. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-"),
  );

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

it.each(pages)("%s: its links lead somewhere", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(root, page) : join(root, dirname(page), path);
    if (!isThere(target) || relative(root, target).startsWith("..")) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(target, "utf8")).includes(anchor);
  });
  expect(broken).toEqual([]);
});

/** Files and folders of ours; a path with a placeholder or a glob is not one. */
const PATH = /`((?:manager|worker-agent|shared|cli|sandbox|test|bench|scripts|deploy|docs)\/[\w./-]+)`/g;

it.each(pages)("%s: the files it names are there", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const named = [...text.matchAll(PATH)].map(([, path = ""]) => path);
  expect(named.filter((path) => !isThere(join(root, path)))).toEqual([]);
});
