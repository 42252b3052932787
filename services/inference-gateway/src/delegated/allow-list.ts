import { isRecord } from '../wire/index.ts';

/** Returns the allowed part of a value, or undefined if nothing is allowed. */
export type Allow = (value: unknown) => unknown;

/** Allows a string, number, boolean or null. */
export const scalar: Allow = (value) => (typeof value === 'object' && value !== null ? undefined : value);

/** Allows a string or null. */
export const text: Allow = (value) => (typeof value === 'string' || value === null ? value : undefined);

/** Allows a number that is not negative, or null. */
export const quantity: Allow = (value) =>
  value === null || (typeof value === 'number' && value >= 0) ? value : undefined;

/** Allows an object, reduced to these members, or null. */
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

/** Allows a list, reduced to the allowed items, or null. */
export const listOf =
  (allow: Allow): Allow =>
  (value) => {
    if (value === null) return null;
    return Array.isArray(value) ? value.map(allow).filter((item) => item !== undefined) : undefined;
  };
