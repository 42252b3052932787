import type { ComplianceMetadata } from '@svc/contracts';
import { type AnswerSpan, type ByteEdit, editPieces, findMember, insertFirst, insertLast } from '../wire/index.ts';

/** Members of `extensions` that the gateway adds to an answer. */
export interface AddedExtensions {
  readonly compliance_metadata: ComplianceMetadata;
  readonly provenance?: string | undefined;
}

/**
 * Adds `extensions` to a provider's JSON answer and returns it in pieces. Every other byte is unchanged, including those of
 * an `extensions` object sent by the provider.
 */
export const stampBody = (
  bytes: Buffer,
  answer: Pick<AnswerSpan, 'span' | 'extensions'>,
  added: AddedExtensions,
): Buffer[] => editPieces(bytes, stampEdits(answer, added));

/** Returns the edits that add `extensions` to a provider's JSON answer. */
export const stampEdits = (
  { span, extensions: theirs }: Pick<AnswerSpan, 'span' | 'extensions'>,
  added: AddedExtensions,
): ByteEdit[] => {
  const extensions = findMember(span, 'extensions');
  const printed = JSON.stringify(added);
  if (extensions === undefined) return [insertLast(span, `"extensions":${printed}`)];
  // Replaces extensions that are not an object, and members of ours that the provider sent empty.
  if (theirs === undefined) return [{ start: extensions.valueStart, end: extensions.valueEnd, text: printed }];
  const missing: string[] = [];
  const replaced: ByteEdit[] = [];
  for (const [name, value] of Object.entries(added)) {
    const text = JSON.stringify(value);
    if (text === undefined) continue;
    const claimed = findMember(theirs, name);
    if (claimed === undefined) missing.push(`${JSON.stringify(name)}:${text}`);
    else replaced.push({ start: claimed.valueStart, end: claimed.valueEnd, text });
  }
  replaced.sort((one, other) => one.start - other.start);
  return missing.length === 0 ? replaced : [insertFirst(theirs, missing), ...replaced];
};
