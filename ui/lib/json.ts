/** JSON as people read it. Its numbers are never read: JavaScript would round them. What is no JSON stays as it is. */
export function indented(text: string): string {
  const token = /\s+|("(?:[^"\\]|\\.)*")|([{}[\],:])|([^\s{}[\],:"]+)/gy;
  let out = "";
  let depth = 0;
  let at = 0;
  let opened = false;
  const line = () => "\n" + "  ".repeat(depth);
  while (at < text.length) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) return text;
    at = token.lastIndex;
    const [, string, mark, word] = found;
    const value = string ?? word;
    if (value !== undefined) {
      out += (opened ? line() : "") + value;
      opened = false;
    } else if (mark === "{" || mark === "[") {
      out += (opened ? line() : "") + mark;
      depth += 1;
      opened = true;
    } else if (mark === "}" || mark === "]") {
      depth -= 1;
      if (depth < 0) return text;
      out += (opened ? "" : line()) + mark;
      opened = false;
    } else if (mark === ",") {
      out += "," + line();
    } else if (mark === ":") {
      out += ": ";
    }
  }
  return depth === 0 ? out : text;
}
