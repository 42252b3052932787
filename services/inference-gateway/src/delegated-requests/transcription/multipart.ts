/** RFC 2046 section 5.1.1: at most 70 of these characters. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** Returns the boundary of a multipart content type; undefined if it is missing or malformed. */
export const boundaryOf = (contentType: string | undefined): string | undefined => {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;]+))/i.exec(contentType ?? '');
  const boundary = match?.[1] ?? match?.[2];
  return boundary !== undefined && BOUNDARY.test(boundary) ? boundary : undefined;
};

/** Headers of a part. */
export interface PartHeaders {
  readonly name: string;
  /** Undefined for an ordinary field. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

/** `name="value"` with backslash escapes, or a plain token. */
const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))\s*/giy;
/** Transfer encodings that do not change the bytes. */
const IDENTITY = new Set(['7bit', '8bit', 'binary']);

/** Parses the headers of a part (RFC 7578 section 4.2). Returns undefined if they name no field or encode its data. */
const parsePartHeaders = (text: string): PartHeaders | undefined => {
  const headers = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!/^[a-z0-9-]+$/.test(name) || headers.has(name)) return undefined;
    headers.set(name, line.slice(colon + 1).trim());
  }
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  if (encoding !== undefined && !IDENTITY.has(encoding)) return undefined;
  const disposition = parseDisposition(headers.get('content-disposition') ?? '');
  if (disposition === undefined) return undefined;
  return { ...disposition, contentType: headers.get('content-type') };
};

const parseDisposition = (value: string): Pick<PartHeaders, 'name' | 'filename'> | undefined => {
  const type = /^form-data\s*(?=;)/i.exec(value);
  if (type === null) return undefined;
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = type[0].length;
  let end = type[0].length;
  for (let match = PARAMETER.exec(value); match !== null; match = PARAMETER.exec(value)) {
    const name = (match[1] ?? '').toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, match[2] === undefined ? (match[3] ?? '') : match[2].replace(/\\(.)/g, '$1'));
    end = PARAMETER.lastIndex;
  }
  const name = parameters.get('name');
  // Some clients end the list of parameters with a semicolon.
  if (name === undefined || !/^[;\s]*$/.test(value.slice(end))) return undefined;
  // RFC 7578 section 4.2 forbids `filename*`, but some clients send it.
  return { name, filename: parameters.get('filename') ?? parameters.get('filename*') };
};

/** Element of a form, in order of arrival. */
type MultipartEvent =
  | { readonly type: 'part'; readonly headers: PartHeaders }
  | { readonly type: 'data'; readonly bytes: Buffer }
  | { readonly type: 'part_end' };

/** Thrown if a form violates RFC 7578 or RFC 2046. The message contains no data of the form. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError';
}

/** Parses a form while it arrives. */
interface MultipartParser {
  /** Yields the elements that these bytes complete. Throws MultipartError. */
  readonly push: (chunk: Buffer) => Generator<MultipartEvent>;
  /** Throws MultipartError if the form is incomplete. */
  readonly end: () => void;
}

const CRLF = Buffer.from('\r\n');
const HEADERS_END = Buffer.from('\r\n\r\n');
const HEADER_BYTES_MAX = 8 * 1024;
const PARTS_MAX = 32;
/** RFC 2046 section 5.1.1: blanks that transport may append to a delimiter. */
const PADDING_BYTES_MAX = 64;
const DASH = 0x2d;
const CR = 0x0d;

type State = 'preamble' | 'delimiter' | 'headers' | 'body' | 'epilogue';

/**
 * Creates a parser (RFC 2046 section 5.1, RFC 7578). It buffers at most one delimiter or the headers of one part; data
 * passes through. Bytes after the closing delimiter are ignored.
 */
export const createMultipartParser = (boundary: string): MultipartParser => {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let state: State = 'preamble';
  // The first delimiter may come without a preceding line end, so one is prepended.
  let held: Buffer = CRLF;
  let parts = 0;

  /** Performs one step. Returns undefined if more bytes are needed. */
  const step = (): readonly MultipartEvent[] | undefined => {
    switch (state) {
      case 'preamble':
        return toDelimiter(() => []);
      case 'body':
        return toDelimiter((bytes) => (bytes.length === 0 ? [] : [{ type: 'data', bytes }]));
      case 'delimiter':
        return passDelimiter();
      case 'headers':
        return readHeaders();
      case 'epilogue':
        held = Buffer.alloc(0);
        return undefined;
    }
  };

  /** Consumes the bytes before the next delimiter. */
  const toDelimiter = (give: (bytes: Buffer) => readonly MultipartEvent[]): readonly MultipartEvent[] | undefined => {
    const wasBody = state === 'body';
    const at = held.indexOf(delimiter);
    if (at === -1) {
      const end = partialStart(held, delimiter);
      if (end === 0) return undefined;
      const bytes = held.subarray(0, end);
      held = held.subarray(end);
      return give(bytes);
    }
    const bytes = held.subarray(0, at);
    held = held.subarray(at + delimiter.length);
    state = 'delimiter';
    return wasBody ? [...give(bytes), { type: 'part_end' }] : [];
  };

  const passDelimiter = (): readonly MultipartEvent[] | undefined => {
    if (held.length < 2) return undefined;
    if (held[0] === DASH && held[1] === DASH) {
      state = 'epilogue';
      return [];
    }
    const lineEnd = held.indexOf(CRLF);
    if (lineEnd === -1 && held.length <= PADDING_BYTES_MAX) return undefined;
    const padding = held.subarray(0, lineEnd === -1 ? held.length : lineEnd);
    if (lineEnd === -1 || padding.toString('latin1').trim() !== '') throw new MultipartError('a delimiter is damaged');
    parts += 1;
    if (parts > PARTS_MAX) throw new MultipartError(`the form has more than ${PARTS_MAX} parts`);
    // The line end is kept: headers end with an empty line, and there may be no headers.
    held = held.subarray(lineEnd);
    state = 'headers';
    return [];
  };

  const readHeaders = (): readonly MultipartEvent[] | undefined => {
    const at = held.indexOf(HEADERS_END);
    if (at > HEADER_BYTES_MAX || (at === -1 && held.length > HEADER_BYTES_MAX)) {
      throw new MultipartError('the headers of a part are too long');
    }
    if (at === -1) return undefined;
    const headers = parsePartHeaders(held.toString('utf8', CRLF.length, Math.max(at, CRLF.length)));
    if (headers === undefined) throw new MultipartError('the headers of a part are damaged');
    held = held.subarray(at + HEADERS_END.length);
    state = 'body';
    return [{ type: 'part', headers }];
  };

  return {
    push: function* (chunk) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      for (let events = step(); events !== undefined; events = step()) yield* events;
    },
    end: () => {
      if (state !== 'epilogue') throw new MultipartError('the form is not whole');
    },
  };
};

/**
 * Returns the offset of a partial delimiter at the end of the bytes, or the length if there is none. Avoids buffering more
 * than that, because buffered bytes are copied in front of the next chunk.
 */
const partialStart = (bytes: Buffer, delimiter: Buffer): number => {
  let at = bytes.indexOf(CR, Math.max(0, bytes.length - delimiter.length + 1));
  while (at !== -1 && !delimiter.subarray(0, bytes.length - at).equals(bytes.subarray(at)))
    at = bytes.indexOf(CR, at + 1);
  return at === -1 ? bytes.length : at;
};
