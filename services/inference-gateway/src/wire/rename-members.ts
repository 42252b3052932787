import { type ByteEdit, type JsonMember, removeMembers } from './json-members.ts';
import type { RequestBody } from './upstream-body.ts';

/** A provider's names for members of a request; null for members that it rejects. */
export type MemberNames = Readonly<Record<string, string | null>>;

/**
 * Returns edits that rename members for a provider and remove those that it rejects. If two members get the same name, one
 * that is not null wins, then the one that already had the name. Other bytes are unchanged.
 */
export const renameMembers = ({ bytes, span }: Pick<RequestBody, 'bytes' | 'span'>, names: MemberNames): ByteEdit[] => {
  if (!span.members.some(({ key }) => Object.hasOwn(names, key))) return [];
  const nameOf = (key: string): string | null => (Object.hasOwn(names, key) ? (names[key] ?? null) : key);
  const rank = ({ key, valueStart, valueEnd }: JsonMember): number =>
    (bytes.toString('latin1', valueStart, valueEnd) === 'null' ? 0 : 2) + (nameOf(key) === key ? 1 : 0);
  const holders = new Map<string, JsonMember>();
  for (const member of span.members) {
    const name = nameOf(member.key);
    const holder = name === null ? undefined : holders.get(name);
    if (name !== null && (holder === undefined || rank(member) > rank(holder))) holders.set(name, member);
  }
  const kept = new Set(holders.values());
  const renamed = [...holders].filter(([name, { key }]) => name !== key);
  return [
    ...removeMembers(span.members.filter((member) => !kept.has(member))),
    ...renamed.map(([name, { keyStart, keyEnd }]) => ({ start: keyStart, end: keyEnd, text: JSON.stringify(name) })),
  ];
};
