/** Creates anchors that are unique within a page, numbered as on GitHub. */
export const createSlugger = (): ((text: string) => string) => {
  const taken = new Set<string>();
  return (text) => {
    const slug = toSlug(text);
    let unique = slug;
    for (let count = 1; taken.has(unique); count += 1) unique = `${slug}-${count}`;
    taken.add(unique);
    return unique;
  };
};

/** Converts text to a part of an address, without accents. */
export const toSlug = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
