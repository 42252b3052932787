const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ['Edge', /Edg(e|A|iOS)?\//],
  ['Opera', /OPR\//],
  ['Firefox', /(Firefox|FxiOS)\//],
  ['Chrome', /(Chrome|CriOS)\//],
  ['Safari', /Safari\//],
];
const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad|iPod/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X|Macintosh/],
  ['Linux', /Linux|X11/],
];
const PRODUCT = /^[\w.-]{1,40}/;

/** Describes a device by its `User-Agent`, such as “Firefox, Windows”; null if that says nothing. Callers send what they like, so little of it is repeated. */
export const describeDevice = (userAgent: string | null): string | null => {
  if (userAgent === null) return null;
  const nameIn = (names: typeof BROWSERS): string | undefined => names.find(([, form]) => form.test(userAgent))?.[0];
  const parts = [nameIn(BROWSERS), nameIn(SYSTEMS)].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(', ') : (PRODUCT.exec(userAgent)?.[0] ?? null);
};
