import type { Fields } from './objects.ts';

/** Parses form keys such as `a[b][0][c]` into a nested object. */
export const parseForm = (pairs: URLSearchParams): Fields => {
  const root: Fields = {};
  for (const [name, value] of pairs) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '');
    let place: Fields = root;
    for (const [index, key] of keys.entries()) {
      const isLast = index === keys.length - 1;
      const next = /^\d+$/.test(keys[index + 1] ?? '') ? [] : {};
      place[key] ??= isLast ? value : next;
      // The value is one of the two containers created above.
      if (!isLast) place = place[key] as Fields;
    }
  }
  return root;
};
