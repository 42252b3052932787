import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import {
  AUDIO_FILE_BYTES_MAX,
  AUDIO_FORM_OVERHEAD_BYTES_MAX,
  transcriptionFieldsSchema,
  type ValidationErrorType,
} from '@svc/contracts';
import { AppError, invalidField, parseOrThrow, RequestTimeout } from '@svc/service-kit';
import { boundaryOf, createMultipartParser, MultipartError, type PartHeaders } from './multipart.ts';

/**
 * Reads a body piece by piece. Stopping early keeps the connection open for the response. Throws `request_timeout` if the
 * caller stops sending.
 */
async function* readPieces(req: IncomingMessage, idleTimeoutMs: number): AsyncGenerator<Buffer> {
  const pieces = req.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const piece = await within(idleTimeoutMs, pieces.next());
      if (piece.done === true) return;
      yield piece.value;
    }
  } finally {
    // Detaches from the request, so that the rest can be discarded. Not awaited: it would wait for the pending read.
    void pieces.return?.()?.catch(() => {});
  }
}

const within = async <T>(timeoutMs: number, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new RequestTimeout()), timeoutMs);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** The text fields of the form. */
export type TranscriptionTexts = ReadonlyMap<string, string>;

/** Receives the file while it arrives. Any error that it throws ends reading. */
export interface FileSink {
  /** Called when the file begins. `fields` come before the file and are validated. */
  readonly open: (headers: PartHeaders, fields: TranscriptionTexts) => Promise<void>;
  readonly write: (bytes: Buffer) => Promise<void>;
}

const FORM_BYTES_MAX = AUDIO_FILE_BYTES_MAX + AUDIO_FORM_OVERHEAD_BYTES_MAX;
const FILE = 'file';
/** Longer than any valid text: a prompt has up to 4,000 characters of at most four bytes. */
const TEXT_BYTES_MAX = 16 * 1024;
/**
 * Accepts numbers as programming languages print and read them, such as `0.30000000000000004`, `1e-7`, `.5`, `0.` and
 * `+1`, with blanks around them.
 */
const NUMBER = /^[ \t]*[+-]?(\d{1,16}(\.\d{0,32})?|\.\d{1,32})(e[+-]?\d{1,3})?[ \t]*$/i;
/** A number as JSON has it, which every provider reads. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Reads the form while it arrives and passes the file to the sink piece by piece. Returns the other fields once the form
 * is complete and valid. Fields may come in any order; those after the file are validated last. Throws the contract's 422,
 * `payload_too_large`, `request_timeout` if the caller sends nothing for `idleTimeoutMs`, or the errors of the sink.
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
  /** The part being read; undefined for the file. */
  let field: { readonly name: string; readonly pieces: Buffer[]; bytes: number } | undefined;
  /** Rejects a part that is invalid regardless of its content immediately, as it may be a large file. */
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
        // Rejects a text that is too long without waiting for its end.
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
      // A form has no null: an empty field counts as absent.
      if (value.length > 0) fields.set(field.name, fieldText(field.name, value.toString()));
    },
    finish: (): TranscriptionTexts => {
      checkFields(fields);
      if (!hasFile) throw fault(FILE, 'missing', 'Field required');
      if (fileBytes === 0) throw fault(FILE, 'value_error', 'Value error, the file is empty');
      return fields;
    },
  };
};

/** Returns the text of a field as the provider gets it. */
const fieldText = (name: string, text: string): string =>
  name === 'temperature' && NUMBER.test(text) && !JSON_NUMBER.test(text) ? String(Number(text)) : text;

/** Validates the fields. Form data is text, so numbers are parsed first. */
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
