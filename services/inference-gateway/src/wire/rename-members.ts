import { type JsonMember, scanObject } from './json-members.ts';
import type { RequestBody } from './upstream-body.ts';

/**
 * A body whose members have the names of a provider; those whose name is null are left out. Of two members with one
 * name, one that is not null goes before one that is, then the one that had the name before. Values stay byte for byte. Mostly
 * nothing is to be done, and then nothing is copied.
 */
export const renameMembers = (body: RequestBody, names: Readonly<Record<string, string | null>>): RequestBody => {
  const { bytes, span } = body;
  if (!span.members.some(({ key }) => Object.hasOwn(names, key))) return body;
  const nameOf = (key: string): string | null => (Object.hasOwn(names, key) ? (names[key] ?? null) : key);
  const rank = ({ key, valueStart, valueEnd }: JsonMember): number =>
    (bytes.toString('latin1', valueStart, valueEnd) === 'null' ? 0 : 2) + (nameOf(key) === key ? 1 : 0);
  const holders = new Map<string, JsonMember>();
  for (const member of span.members) {
    const name = nameOf(member.key);
    const holder = name === null ? undefined : holders.get(name);
    if (name !== null && (holder === undefined || rank(member) > rank(holder))) holders.set(name, member);
  }
  const pieces: Buffer[] = [];
  for (const [name, { valueStart, valueEnd }] of holders) {
    pieces.push(
      Buffer.from(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`),
      bytes.subarray(valueStart, valueEnd),
    );
  }
  const renamed = Buffer.concat([...(pieces.length === 0 ? [Buffer.from('{')] : pieces), Buffer.from('}')]);
  return { bytes: renamed, span: scanObject(renamed) };
};
