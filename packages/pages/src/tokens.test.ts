import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COLORS, MEASURES } from './tokens.ts';

const DESIGN_SYSTEM = new URL('../../../docs/design-system.md', import.meta.url);
const CONTRAST_MIN = 4.5;
const CONTROL_CONTRAST_MIN = 3;

const luminanceOf = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** WCAG 2.2, "contrast ratio". */
const contrastOf = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};

type Name = keyof typeof COLORS;

const GROUNDS: readonly Name[] = ['ground', 'paper', 'surface', 'surface-raised', 'surface-sunken'];
const pairs = (texts: readonly Name[], grounds: readonly Name[]) =>
  texts.flatMap((text) => grounds.map((ground) => [text, ground] as const));

test.each([
  ...pairs(['text', 'text-soft', 'accent'], GROUNDS),
  ...pairs(['good', 'warn', 'bad'], ['surface', 'surface-raised']),
  ...(['accent', 'good', 'warn', 'bad'] as const).map((name) => [name, `${name}-soft`] as const),
  ...pairs(['on-accent'], ['accent', 'accent-strong']),
  ...pairs(['on-bad'], ['bad', 'bad-strong']),
])('%s can be read on %s in both themes', (text, ground) => {
  for (const theme of [0, 1] as const) {
    expect(contrastOf(COLORS[text][theme], COLORS[ground][theme])).toBeGreaterThanOrEqual(CONTRAST_MIN);
  }
});

test.each(GROUNDS.filter((ground) => ground !== 'surface-sunken'))(
  'the border of a control can be seen on %s',
  (ground) => {
    for (const theme of [0, 1] as const) {
      const contrast = contrastOf(COLORS['line-strong'][theme], COLORS[ground][theme]);
      expect(contrast).toBeGreaterThanOrEqual(CONTROL_CONTRAST_MIN);
    }
  },
);

test('the page on the design system names every token', () => {
  const page = readFileSync(DESIGN_SYSTEM, 'utf8');
  const isNamed = (name: string): boolean => page.includes(`\`--${name}\``) || /^space-[2-6]$/.test(name);
  expect([...Object.keys(COLORS), ...Object.keys(MEASURES)].filter((name) => !isNamed(name))).toEqual([]);
});
