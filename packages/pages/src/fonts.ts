/** A file of a font, served below `/assets/` of the product's own origin. */
export interface FontFile {
  /** The name has the version of the font, so that caches keep the file for ever. */
  readonly path: string;
  /** Package that has the file, and its name there. */
  readonly packageName: string;
  readonly file: string;
  readonly family: string;
  readonly unicodeRange: string;
}

/** Version of the packages that the files come from; a test compares it with the installed ones. */
export const FONT_VERSION = '5.3.0';

const LATIN =
  'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD';
const LATIN_EXTENDED =
  'U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF';

const fontFile = (name: 'geist' | 'geist-mono', subset: 'latin' | 'latin-ext'): FontFile => ({
  path: `/assets/${name}-${subset}-${FONT_VERSION}.woff2`,
  packageName: `@fontsource-variable/${name}`,
  file: `${name}-${subset}-wght-normal.woff2`,
  family: name === 'geist' ? 'Geist Variable' : 'Geist Mono Variable',
  unicodeRange: subset === 'latin' ? LATIN : LATIN_EXTENDED,
});

/** Text in Latin letters: the only file that every page needs, and so the one to preload. */
export const TEXT_FONT = fontFile('geist', 'latin');
const TEXT_FONTS = [TEXT_FONT, fontFile('geist', 'latin-ext')];

/** Code in Latin letters. */
export const CODE_FONT = fontFile('geist-mono', 'latin');

export const FONT_FILES: readonly FontFile[] = [...TEXT_FONTS, CODE_FONT, fontFile('geist-mono', 'latin-ext')];

/**
 * Fonts of the system with the measures of Geist, so that nothing moves when the font arrives. `size-adjust` is the ratio
 * of the average widths of a letter in English and Italian text; the other two are Geist's own, divided by it.
 */
const FALLBACKS = [
  { family: 'Geist Fallback', sources: ['Arial', 'Helvetica', 'Liberation Sans'], sizeAdjust: 104.6 },
  { family: 'Geist Fallback Android', sources: ['Roboto'], sizeAdjust: 103.8 },
];
const ASCENT = 1.005;
const DESCENT = 0.295;

const face = ({ family, path, unicodeRange }: FontFile): string =>
  `@font-face{font-family:"${family}";font-weight:100 900;font-display:swap;src:url("${path}") format("woff2");unicode-range:${unicodeRange}}`;

const fallback = ({ family, sources, sizeAdjust }: (typeof FALLBACKS)[number]): string => {
  const percent = (share: number): string => `${((share / sizeAdjust) * 10_000).toFixed(1)}%`;
  const src = sources.map((name) => `local("${name}")`).join(',');
  return `@font-face{font-family:"${family}";src:${src};size-adjust:${sizeAdjust}%;ascent-override:${percent(ASCENT)};descent-override:${percent(DESCENT)};line-gap-override:0%}`;
};

/** Faces for text. Pages without code need no more. */
export const TEXT_FONT_FACES = [...TEXT_FONTS.map(face), ...FALLBACKS.map(fallback)].join('\n');

/** Faces for text and code. */
export const FONT_FACES = [...FONT_FILES.map(face), ...FALLBACKS.map(fallback)].join('\n');
