import type { ComplianceMetadata } from '@svc/contracts';
import {
  applyEdits,
  type ByteEdit,
  findMember,
  insertFirst,
  insertLast,
  isRecord,
  type RequestBody,
  scanObject,
} from '../wire/index.ts';

const MEMBER = 'compliance_metadata';

/**
 * Adds `extensions.compliance_metadata` to a provider's JSON answer; every other byte stays as it came, in an `extensions`
 * object of the provider's own too.
 */
export const stampBody = ({ bytes, span }: RequestBody, metadata: ComplianceMetadata): Buffer => {
  const member = `${JSON.stringify(MEMBER)}:${JSON.stringify(metadata)}`;
  return applyEdits(bytes, [editFor({ bytes, span }, member)]);
};

const editFor = ({ bytes, span }: RequestBody, member: string): ByteEdit => {
  const extensions = findMember(span, 'extensions');
  if (extensions === undefined) return insertLast(span, `"extensions":{${member}}`);
  const { valueStart: start, valueEnd: end } = extensions;
  const value: unknown = JSON.parse(bytes.toString('utf8', start, end));
  // What is there and is no object, or claims to be our own metadata, gives way.
  if (!isRecord(value) || MEMBER in value) {
    const others = isRecord(value) ? Object.entries(value).filter(([name]) => name !== MEMBER) : [];
    const texts = others.map(([name, other]) => `${JSON.stringify(name)}:${JSON.stringify(other)}`);
    return { start, end, text: `{${[...texts, member].join(',')}}` };
  }
  return insertFirst(scanObject(bytes, start), [member]);
};
