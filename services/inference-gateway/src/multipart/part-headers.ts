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
export const parsePartHeaders = (text: string): PartHeaders | undefined => {
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
