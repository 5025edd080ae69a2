import { describe, expect, it } from "vitest";
import { readPage } from "./page.ts";

const PAGE = `# Title
Run \`kubectl get jobs\`; \`kubectl\` alone and \`spec.managedBy\` are not commands.
\`\`\`sh
# not a heading
one \\
  more
\`\`\`
## Part
### Piece
\`\`\`yaml
a: \`kubectl get x\`
\`\`\`
## Other
| see | \`jobferry cluster list\` | and \`redis-cli -h HOST ping\` |
\`\`\`
two
\`\`\`
`;

describe("a page of the documentation", () => {
  const { blocks, inline } = readPage("p.md", PAGE);

  it("yields its blocks with their place", () => {
    expect(blocks).toEqual([
      { at: "p.md:3", section: "", language: "sh", text: "# not a heading\none \\\n  more" },
      { at: "p.md:10", section: "Part/Piece", language: "yaml", text: "a: `kubectl get x`" },
      { at: "p.md:15", section: "Other", language: "", text: "two" },
    ]);
  });

  it("yields the commands outside of blocks", () => {
    expect(inline).toEqual([
      { at: "p.md:2", section: "", text: "kubectl get jobs" },
      { at: "p.md:14", section: "Other", text: "jobferry cluster list" },
      { at: "p.md:14", section: "Other", text: "redis-cli -h HOST ping" },
    ]);
  });

  it("says where a fence was left open", () => {
    expect(() => readPage("p.md", "a\n```sh\nb")).toThrow("p.md:2: the fence is not closed");
  });
});
