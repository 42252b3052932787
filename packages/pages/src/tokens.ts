/** A color in the light and in the dark theme. */
type Color = readonly [light: string, dark: string];

/** Colors by role. Text keeps a contrast of 4.5:1 on every ground, borders of controls 3:1. */
export const COLORS = {
  ground: ['#f6f7f9', '#101319'],
  paper: ['#ffffff', '#101319'],
  surface: ['#ffffff', '#181c24'],
  'surface-raised': ['#ffffff', '#1f2430'],
  'surface-sunken': ['#f0f2f6', '#12161d'],
  line: ['#e2e5ec', '#2b313d'],
  'line-strong': ['#868fa0', '#6d7789'],
  text: ['#171b24', '#e8ebf1'],
  'text-soft': ['#555e70', '#a3adbe'],
  accent: ['#3a4fd0', '#a4b2ff'],
  'accent-strong': ['#2e40b3', '#bdc8ff'],
  'accent-soft': ['#eceffd', '#252c4d'],
  'on-accent': ['#ffffff', '#10142b'],
  good: ['#176b43', '#7fd6a6'],
  'good-soft': ['#e3f4ea', '#16332a'],
  warn: ['#825203', '#f0c274'],
  'warn-fill': ['#b87807', '#f0c274'],
  'warn-soft': ['#fdf1da', '#362a14'],
  bad: ['#b3261e', '#ff9d94'],
  'bad-strong': ['#93190f', '#ffb5ae'],
  'bad-soft': ['#fcebe9', '#3b1d1c'],
  'on-bad': ['#ffffff', '#2c0805'],
  shade: ['rgb(23 27 36 / 40%)', 'rgb(0 0 0 / 60%)'],
  'shadow-soft': ['rgb(23 27 36 / 5%)', 'rgb(0 0 0 / 30%)'],
  'shadow-deep': ['rgb(23 27 36 / 14%)', 'rgb(0 0 0 / 50%)'],
} as const satisfies Readonly<Record<string, Color>>;

/** Code is dark in both themes, as a terminal is. */
const CODE_COLORS = {
  'code-ground': ['#151a24', '#0b0e14'],
  'code-raised': ['#1e2431', '#141922'],
  'code-line': ['#2b3342', '#232a36'],
  'code-text': ['#e6e9f0', '#e6e9f0'],
  'code-soft': ['#98a3b8', '#98a3b8'],
  'code-keyword': ['#c9a8ff', '#c9a8ff'],
  'code-string': ['#8fdcae', '#8fdcae'],
  'code-number': ['#f2c57c', '#f2c57c'],
  'code-name': ['#9fb3ff', '#9fb3ff'],
} as const satisfies Readonly<Record<string, Color>>;

/** Everything that is the same in both themes. Sizes are in rem, so that they follow the browser's setting. */
export const MEASURES = {
  shadow: '0 1px 2px var(--shadow-soft)',
  'shadow-raised': '0 12px 32px var(--shadow-deep)',
  radius: '0.75rem',
  'radius-small': '0.5rem',
  'space-1': '0.25rem',
  'space-2': '0.5rem',
  'space-3': '0.75rem',
  'space-4': '1rem',
  'space-5': '1.5rem',
  'space-6': '2rem',
  'space-7': '3rem',
  'size-caption': '0.8125rem',
  'size-small': '0.875rem',
  'size-text': '0.9375rem',
  'size-reading': '1rem',
  'size-heading-3': '1rem',
  'size-heading-2': '1.125rem',
  'size-heading-1': '1.625rem',
  'size-display': '2.25rem',
  'weight-medium': '500',
  'weight-strong': '600',
  sans: '"Geist Variable", "Geist Fallback", "Geist Fallback Android", system-ui, sans-serif',
  mono: '"Geist Mono Variable", ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", Menlo, monospace',
} as const;

const declare = (values: Iterable<readonly [name: string, value: string]>): string =>
  [...values].map(([name, value]) => `--${name}:${value}`).join(';');

const of = (theme: 0 | 1): string =>
  declare(Object.entries(COLORS).map(([name, color]) => [name, color[theme]] as const));

/** Tokens for pages without a switch of the theme. The media query also reaches browsers from before `light-dark()`. */
export const systemThemeTokens = (): string =>
  `:root{color-scheme:light dark;${of(0)};${declare(Object.entries(MEASURES))}}
@media (prefers-color-scheme:dark){:root{${of(1)}}}`;

/** Tokens for pages that set `data-theme` on the root when a reader has chosen a theme. */
export const switchableTokens = (): string => {
  const colors = Object.entries({ ...COLORS, ...CODE_COLORS }).map(
    ([name, [light, dark]]) => [name, light === dark ? light : `light-dark(${light}, ${dark})`] as const,
  );
  const lines = [...colors, ...Object.entries(MEASURES)].map(([name, value]) => `  --${name}: ${value};`);
  return `:root {
  color-scheme: light dark;
${lines.join('\n')}
}

:root[data-theme="light"] {
  color-scheme: light;
}

:root[data-theme="dark"] {
  color-scheme: dark;
}
`;
};
