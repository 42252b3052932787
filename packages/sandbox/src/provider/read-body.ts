import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { ProviderError } from './exchange.ts';

/** Larger than any body that the product lets through. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Reads a whole body; 413 above the limit. */
export const readBody = async (req: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('The request must not be decoded.');
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new ProviderError(413, 'payload_too_large', 'The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Reads and checks a JSON body; 400 names the first invalid field. */
export const readJson = async <S extends z.ZodType>(req: IncomingMessage, schema: S): Promise<z.infer<S>> => {
  let json: unknown;
  try {
    json = JSON.parse((await readBody(req)).toString('utf8'));
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw new ProviderError(400, 'json_invalid', 'The body is not valid JSON.');
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ProviderError(400, 'invalid_value', `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
};
