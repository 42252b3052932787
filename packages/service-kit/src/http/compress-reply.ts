import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RouteDefinition } from '@svc/contracts';
import { acceptedEncodings } from './accepted-encodings.ts';
import type { ReplyContent } from './binding.ts';

const compress = promisify(gzip);

/** Smaller bodies fit into one packet, compressed or not. */
const BODY_CHARACTERS_MIN = 1_400;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Compresses the bodies that browsers read, on a thread of the pool. Returns every other reply unchanged. */
export const compressReply = async (
  reply: ReplyContent,
  { route, req }: { readonly route: RouteDefinition; readonly req: IncomingMessage },
): Promise<ReplyContent> => {
  if (!isForBrowsers(route)) return reply;
  const { status, body, contentType = JSON_TYPE, headers = {} } = reply;
  const text = reply.contentType === undefined ? JSON.stringify(body) : body;
  if (typeof text !== 'string' || text.length < BODY_CHARACTERS_MIN) return reply;
  const varying = { ...headers, vary: [headers['vary'], 'Accept-Encoding'].filter(Boolean).join(', ') };
  if (!acceptedEncodings(req.headers['accept-encoding']).has('gzip')) return { ...reply, headers: varying };
  const bytes = await compress(text);
  return { status, contentType, body: bytes, headers: { ...varying, 'content-encoding': 'gzip' } };
};

/**
 * Returns true for what browsers read by the session's token or without any credential. The authorize page stays
 * uncompressed: it repeats the app's request beside the person's address, which its length would then betray (BREACH).
 * So do programs' replies, for which a byte less is not worth the time.
 */
const isForBrowsers = ({ method, caller }: RouteDefinition): boolean =>
  method === 'GET' && (caller === 'console_session' || caller === 'public');
