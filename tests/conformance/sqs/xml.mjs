// The XML of answers, read strictly: what the official clients tolerate is not all that clients may get.

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#xD": "\r" };

function unescape(text) {
  return text.replace(/&([^;]*);?/g, (all, name) => {
    if (!all.endsWith(";") || !(name in ENTITIES)) throw new Error(`an escape that clients do not know: ${all}`);
    return ENTITIES[name];
  });
}

/** {name, xmlns, children, text} of the root element. */
export function parseXml(text) {
  const top = { name: "", children: [], text: "" };
  const open = [top];
  const token = /<\?[^>]*\?>|<(\/?)([\w.]+)((?:\s+[\w:]+="[^"]*")*)\s*(\/?)>|([^<]+)/gy;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (!match) throw new Error(`not XML at ${at}: ${text.slice(at, at + 80)}`);
    const [, closing, name, attributes, empty, chars] = match;
    const current = open.at(-1);
    if (chars !== undefined) {
      current.text += unescape(chars);
    } else if (closing) {
      if (open.pop().name !== name) throw new Error(`</${name}> closes another element: ${text.slice(0, at)}`);
    } else if (name) {
      const element = { name, xmlns: /xmlns="([^"]*)"/.exec(attributes)?.[1], children: [], text: "" };
      current.children.push(element);
      if (!empty) open.push(element);
    }
  }
  if (open.length !== 1 || top.children.length !== 1) throw new Error(`not one whole element: ${text.slice(0, 200)}`);
  return top.children[0];
}

/** An element's text, or an object that has for each child's name the list of those children. */
export function plain(element) {
  if (element.children.length === 0) return element.text;
  const all = {};
  for (const child of element.children) (all[child.name] ??= []).push(plain(child));
  return all;
}
