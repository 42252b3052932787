import { isRecord } from '../wire/index.ts';

/** Copies what is allowed of a value; undefined where nothing is. */
export type Allow = (value: unknown) => unknown;

/** A text, number, boolean or null. */
export const scalar: Allow = (value) => (typeof value === 'object' && value !== null ? undefined : value);

/** A number that counts or measures something, or null. */
export const quantity: Allow = (value) =>
  value === null || (typeof value === 'number' && value >= 0) ? value : undefined;

/** An object with these members and no others; null passes. */
export const objectOf = (members: Readonly<Record<string, Allow>>): Allow => {
  const entries = Object.entries(members);
  return (value) => {
    if (value === null) return null;
    if (!isRecord(value)) return undefined;
    const copy: Record<string, unknown> = {};
    for (const [name, allow] of entries) {
      const member = value[name];
      if (member === undefined) continue;
      const allowed = allow(member);
      if (allowed !== undefined) copy[name] = allowed;
    }
    return copy;
  };
};

/** A list of such items; null passes. */
export const listOf =
  (allow: Allow): Allow =>
  (value) => {
    if (value === null) return null;
    return Array.isArray(value) ? value.map(allow).filter((item) => item !== undefined) : undefined;
  };

/** What either of the two allows. */
export const either =
  (first: Allow, second: Allow): Allow =>
  (value) =>
    first(value) ?? second(value);
