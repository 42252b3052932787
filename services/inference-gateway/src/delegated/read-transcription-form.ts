import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import {
  AUDIO_FILE_BYTES_MAX,
  AUDIO_FORM_OVERHEAD_BYTES_MAX,
  transcriptionFieldsSchema,
  type ValidationErrorType,
} from '@svc/contracts';
import { AppError, invalidField, parseOrThrow } from '@svc/service-kit';
import { boundaryOf, createMultipartParser, MultipartError, type PartHeaders } from '../multipart/index.ts';
import { readPieces } from './read-pieces.ts';

/** The fields of the form beside the file, as text. */
export type TranscriptionTexts = ReadonlyMap<string, string>;

/** Who takes the file while it arrives. Whatever it throws ends the reading. */
export interface FileSink {
  /** The file begins; fields that came before it have been checked. */
  readonly open: (headers: PartHeaders, fields: TranscriptionTexts) => Promise<void>;
  readonly write: (bytes: Buffer) => Promise<void>;
}

const FORM_BYTES_MAX = AUDIO_FILE_BYTES_MAX + AUDIO_FORM_OVERHEAD_BYTES_MAX;
const FILE = 'file';
/** More than any text may have that fits: a prompt of 4,000 characters has four bytes for each at most. */
const TEXT_BYTES_MAX = 16 * 1024;
/** A number as languages print it: 17 digits and an exponent are not rare (`0.30000000000000004`, `1e-7`). */
const NUMBER = /^-?\d{1,16}(\.\d{1,32})?(e[+-]?\d{1,3})?$/i;

/**
 * Reads the form while it arrives and hands the file on piece by piece. Resolves with the other fields once the form is
 * whole and right; throws the 422 of the contract, `payload_too_large`, or what the sink throws. Fields may come in any
 * order, so those behind the file are judged only then. A caller that sends nothing for `idleTimeoutMs` is `request_timeout`.
 */
export const readTranscriptionForm = async (
  req: IncomingMessage,
  sink: FileSink,
  { idleTimeoutMs }: { readonly idleTimeoutMs: number },
): Promise<TranscriptionTexts> => {
  const boundary = boundaryOf(req.headers['content-type']);
  if (boundary === undefined) throw malformed();
  if (Number(req.headers['content-length'] ?? 0) > FORM_BYTES_MAX) throw tooLarge();
  const parser = createMultipartParser(boundary);
  const form = createFormReader(sink);
  let bytes = 0;
  try {
    for await (const chunk of readPieces(req, idleTimeoutMs)) {
      bytes += chunk.length;
      for (const event of parser.push(chunk)) {
        if (event.type === 'part') await form.startPart(event.headers);
        else if (event.type === 'data') await form.addData(event.bytes);
        else form.endPart();
      }
      if (bytes - form.fileBytes() > AUDIO_FORM_OVERHEAD_BYTES_MAX) throw tooLarge();
    }
    parser.end();
  } catch (error) {
    throw error instanceof MultipartError ? malformed() : error;
  }
  return form.finish();
};

const createFormReader = (sink: FileSink) => {
  const fields = new Map<string, string>();
  let fileBytes = 0;
  let hasFile = false;
  /** The part being read: undefined for the file. */
  let field: { readonly name: string; readonly pieces: Buffer[]; bytes: number } | undefined;
  /** What no text of this name can mend is told at once: it may be a file, and large. */
  const startField = ({ name, filename }: PartHeaders): void => {
    if (fields.has(name)) throw fault(name, 'value_error', 'Value error, the field is repeated');
    if (!Object.hasOwn(transcriptionFieldsSchema.shape, name)) checkFields(new Map([...fields, [name, '']]));
    if (filename !== undefined) throw fault(name, 'string_type', 'Input should be a valid string');
    field = { name, pieces: [], bytes: 0 };
  };
  return {
    fileBytes: () => fileBytes,
    startPart: async (headers: PartHeaders): Promise<void> => {
      const { name } = headers;
      if (name !== FILE) {
        startField(headers);
        return;
      }
      if (hasFile) throw fault(FILE, 'value_error', 'Value error, there is more than one file');
      if (headers.filename === undefined) throw fault(FILE, 'value_error', 'Value error, expected a file');
      hasFile = true;
      field = undefined;
      checkFields(fields);
      await sink.open(headers, new Map(fields));
    },
    addData: async (bytes: Buffer): Promise<void> => {
      if (field !== undefined) {
        field.pieces.push(bytes);
        field.bytes += bytes.length;
        // The rest is not waited for.
        if (field.bytes > TEXT_BYTES_MAX)
          checkFields(new Map([...fields, [field.name, String(Buffer.concat(field.pieces))]]));
        return;
      }
      fileBytes += bytes.length;
      if (fileBytes > AUDIO_FILE_BYTES_MAX) throw tooLarge();
      await sink.write(bytes);
    },
    endPart: (): void => {
      if (field === undefined) return;
      const value = Buffer.concat(field.pieces);
      if (!isUtf8(value)) throw fault(field.name, 'value_error', 'Value error, the text is not UTF-8');
      fields.set(field.name, value.toString());
    },
    finish: (): TranscriptionTexts => {
      checkFields(fields);
      if (!hasFile) throw fault(FILE, 'missing', 'Field required');
      if (fileBytes === 0) throw fault(FILE, 'value_error', 'Value error, the file is empty');
      return fields;
    },
  };
};

/** Form text is judged as the type that its field has. */
const checkFields = (fields: TranscriptionTexts): void => {
  const values = [...fields].map(([name, text]): [string, unknown] => [
    name,
    name === 'temperature' && NUMBER.test(text) ? Number(text) : text,
  ]);
  parseOrThrow(transcriptionFieldsSchema, Object.fromEntries(values), 'form');
};

const fault = (name: string, type: ValidationErrorType, msg: string): AppError =>
  invalidField(['form', name], type, msg);

const malformed = (): AppError => invalidField(['form'], 'value_error', 'Value error, the form is malformed');

const tooLarge = (): AppError =>
  new AppError('payload_too_large', `The file may have at most ${AUDIO_FILE_BYTES_MAX} bytes.`, {
    details: { bytes_max: AUDIO_FILE_BYTES_MAX },
  });
