import type { ComplianceMetadata } from '@svc/contracts';
import { type AnswerSpan, type ByteEdit, editPieces, findMember, insertFirst, insertLast } from '../wire/index.ts';

const MEMBER = 'compliance_metadata';

/**
 * Adds `extensions.compliance_metadata` to a provider's JSON answer, which is returned in pieces; every other byte stays as
 * it came, in an `extensions` object of the provider's own too.
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
  // A value that is no object gives way, as does metadata that claims to be ours.
  if (theirs === undefined) return { start: extensions.valueStart, end: extensions.valueEnd, text: `{${member}}` };
  const claimed = findMember(theirs, MEMBER);
  return claimed === undefined
    ? insertFirst(theirs, [member])
    : { start: claimed.valueStart, end: claimed.valueEnd, text: metadata };
};
