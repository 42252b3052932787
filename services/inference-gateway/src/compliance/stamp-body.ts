import type { ComplianceMetadata } from '@svc/contracts';
import {
  applyEdits,
  type ByteEdit,
  findMember,
  insertFirst,
  insertLast,
  type RequestBody,
  scanObject,
} from '../wire/index.ts';

const MEMBER = 'compliance_metadata';
const OPEN_BRACE = 0x7b;

/**
 * Adds `extensions.compliance_metadata` to a provider's JSON answer; every other byte stays as it came, in an `extensions`
 * object of the provider's own too.
 */
export const stampBody = ({ bytes, span }: RequestBody, metadata: ComplianceMetadata): Buffer =>
  applyEdits(bytes, [editFor({ bytes, span }, JSON.stringify(metadata))]);

const editFor = ({ bytes, span }: RequestBody, metadata: string): ByteEdit => {
  const member = `${JSON.stringify(MEMBER)}:${metadata}`;
  const extensions = findMember(span, 'extensions');
  if (extensions === undefined) return insertLast(span, `"extensions":{${member}}`);
  const { valueStart: start, valueEnd: end } = extensions;
  // What is there and is no object gives way, as does what claims to be our own metadata.
  if (bytes[start] !== OPEN_BRACE) return { start, end, text: `{${member}}` };
  const theirs = scanObject(bytes, start);
  const claimed = findMember(theirs, MEMBER);
  return claimed === undefined
    ? insertFirst(theirs, [member])
    : { start: claimed.valueStart, end: claimed.valueEnd, text: metadata };
};
