import { scanObject } from './json-members.ts';
import type { RequestBody } from './upstream-body.ts';

/**
 * A body whose members have the names of a provider; those whose name is null are left out, and so is one whose new name
 * another member has already. Values stay byte for byte. Mostly nothing is to be done, and then nothing is copied.
 */
export const renameMembers = (body: RequestBody, names: Readonly<Record<string, string | null>>): RequestBody => {
  const { bytes, span } = body;
  if (!span.members.some(({ key }) => Object.hasOwn(names, key))) return body;
  const taken = new Set(span.members.map(({ key }) => key));
  const pieces: Buffer[] = [];
  for (const { key, valueStart, valueEnd } of span.members) {
    const name = Object.hasOwn(names, key) ? names[key] : key;
    if (name === undefined || name === null || (name !== key && taken.has(name))) continue;
    pieces.push(
      Buffer.from(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`),
      bytes.subarray(valueStart, valueEnd),
    );
  }
  const renamed = Buffer.concat([...(pieces.length === 0 ? [Buffer.from('{')] : pieces), Buffer.from('}')]);
  return { bytes: renamed, span: scanObject(renamed) };
};
