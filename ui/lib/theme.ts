/** Light or dark, and the colour of a brand, made readable on both. */

export type Theme = "light" | "dark";

type Colour = [number, number, number];
const black: Colour = [0, 0, 0];
const white: Colour = [255, 255, 255];
const ground: Record<Theme, Colour> = { light: white, dark: [22, 24, 29] };  // --card of base.css
const readable = 4.5;  // WCAG AA

export function systemTheme(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** "1a2b3c" or "#1a2b3c"; undefined for anything else. */
export function parseColour(text: string): Colour | undefined {
  const digits = /^#?([0-9a-f]{6})$/i.exec(text)?.[1];
  if (!digits) return undefined;
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16)) as Colour;
}

function luminance(colour: Colour): number {
  const [r, g, b] = colour.map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: Colour, b: Colour): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** The colour, or as little nearer to black or white as makes it readable on that ground. */
export function readableOn(colour: Colour, on: Colour): Colour {
  const towards = luminance(on) > 0.18 ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = colour.map((one, i) => Math.round(one + (towards[i] - one) * share)) as Colour;
    if (contrast(mixed, on) >= readable) return mixed;
  }
  return towards;
}

const css = (colour: Colour) => `rgb(${colour.join(" ")})`;

export function applyTheme(theme: Theme, brand?: Colour) {
  const root = document.documentElement;
  root.dataset.theme = theme;
  if (!brand) return;
  const on = contrast(brand, white) >= contrast(brand, black) ? white : black;
  root.style.setProperty("--primary", css(brand));
  root.style.setProperty("--on-primary", css(on));
  root.style.setProperty("--link", css(readableOn(brand, ground[theme])));
}
