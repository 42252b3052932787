import type { ComplianceMetadata } from '@svc/contracts';
import { type AnswerSpan, type ByteEdit, editPieces, findMember, insertFirst, insertLast } from '../wire/index.ts';

const MEMBER = 'compliance_metadata';

/**
 * Adds `extensions.compliance_metadata` to a provider's JSON answer and returns it in pieces. Every other byte is
 * unchanged, including those of an `extensions` object sent by the provider.
 */
export const stampBody = (
  bytes: Buffer,
  answer: Pick<AnswerSpan, 'span' | 'extensions'>,
  metadata: ComplianceMetadata,
): Buffer[] => editPieces(bytes, [editFor(answer, JSON.stringify(metadata))]);

const editFor = ({ span, extensions: theirs }: Pick<AnswerSpan, 'span' | 'extensions'>, metadata: string): ByteEdit => {
  const member = `${JSON.stringify(MEMBER)}:${metadata}`;
  const extensions = findMember(span, 'extensions');
  if (extensions === undefined) return insertLast(span, `"extensions":{${member}}`);
  // Replaces extensions that are not an object, and compliance metadata sent by the provider.
  if (theirs === undefined) return { start: extensions.valueStart, end: extensions.valueEnd, text: `{${member}}` };
  const claimed = findMember(theirs, MEMBER);
  return claimed === undefined
    ? insertFirst(theirs, [member])
    : { start: claimed.valueStart, end: claimed.valueEnd, text: metadata };
};
