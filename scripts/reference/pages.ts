/** All pages of docs/reference, as they should be. */
import { codesPage } from "./codes.ts";
import { configurationPage } from "./configuration.ts";
import { eventsPage } from "./events.ts";
import { type Page, pageText } from "./markdown.ts";
import { marksPage } from "./marks.ts";
import { metricsPage } from "./metrics.ts";
import { resourcesPage } from "./resources.ts";

export const FOLDER = "docs/reference";

/** Text by path below the root of the project. */
export async function referencePages(): Promise<Map<string, string>> {
  const pages: Page[] = [
    configurationPage(),
    resourcesPage(),
    marksPage(),
    eventsPage(),
    await metricsPage(),
    codesPage(),
  ];
  const list = pages.map(({ file, title }) => `- [${title}](${file})`).join("\n");
  const index = pageText({
    file: "README.md",
    title: "Reference",
    from: "the sources",
    body: `A quick test fails when a page is out of date.\n\n${list}`,
  });
  return new Map([
    [`${FOLDER}/README.md`, index],
    ...pages.map((page) => [`${FOLDER}/${page.file}`, pageText(page)] as const),
  ]);
}
