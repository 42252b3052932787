import { isUtf8 } from 'node:buffer';
import {
  chatRequestSchema,
  gatewayChatRequestSchema,
  gatewayCompletionRequestSchema,
  gatewayEmbeddingsRequestSchema,
  MODEL_NAME_CHARACTERS_MAX,
  PUBLIC_MODEL,
  type ValidationIssue,
} from '@svc/contracts';
import { check } from '@svc/service-kit/validation';
import type { z } from 'zod';
import { findDuplicateKey, narrowSpan, scanObject } from './json-members.ts';
import { cutFaultyLists } from './json-value.ts';
import {
  chatBounds,
  chatSize,
  completionBounds,
  type InputSize,
  type OutputBounds,
  textSize,
} from './request-bounds.ts';
import { type RequestBody, readStreamOptions, type StreamOptions, wantsUsage } from './upstream-body.ts';

/** Kinds of JSON requests. Each has its schema. */
export type RequestKind = 'delegated_chat' | 'chat' | 'completions' | 'embeddings';

/** The parts of a request that the gateway needs besides its bytes. Its size is bounded, regardless of the request's. */
export interface RequestDigest extends Omit<RequestBody, 'bytes'>, OutputBounds {
  readonly model: string;
  readonly isStreamed: boolean;
  /** True if the caller requested the usage chunk of its stream. */
  readonly showsUsage: boolean;
  readonly input: InputSize;
}

/** Digest of a request, or its faults. */
export type RequestReading =
  | { readonly ok: true; readonly digest: RequestDigest }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

export interface RequestReadingOptions {
  readonly kind: RequestKind;
  /** Names of the members whose offsets the digest lists. */
  readonly members: ReadonlySet<string>;
}

/** Longer keys are truncated in faults. */
const KEY_CHARACTERS_MAX = 128;

/** Validates and digests a JSON request. A repeated property is a fault, as the provider might read the other value. */
export const digestRequest = (bytes: Buffer, { kind, members }: RequestReadingOptions): RequestReading => {
  const body = parseJson(bytes);
  if (body === undefined) return faulty(['body'], 'json_invalid', 'JSON decode error');
  cutFaultyLists(body);
  const { schema, read } = READERS[kind];
  const checked = check(schema, body, 'body');
  if (!checked.ok) return checked;
  const span = scanObject(bytes);
  const streamOptions = readStreamOptions(bytes, span);
  const duplicate = findDuplicate(bytes, span);
  if (duplicate !== undefined) return faulty(duplicate, 'value_error', 'Value error, the property is repeated');
  return {
    ok: true,
    digest: {
      ...read(checked.value, bytes.length),
      showsUsage: wantsUsage(bytes, streamOptions),
      streamOptions,
      span: narrowSpan(span, members),
    },
  };
};

const findDuplicate = (bytes: Buffer, span: RequestDigest['span']): readonly string[] | undefined => {
  const duplicate = findDuplicateKey(span);
  if (duplicate !== undefined) return ['body', duplicate];
  const options: StreamOptions = readStreamOptions(bytes, span, null);
  const nested = typeof options === 'object' ? findDuplicateKey(options) : undefined;
  return nested === undefined ? undefined : ['body', 'stream_options', nested];
};

const faulty = (loc: readonly string[], type: ValidationIssue['type'], msg: string): RequestReading => ({
  ok: false,
  issues: [{ loc: loc.map((key) => key.slice(0, KEY_CHARACTERS_MAX)), type, msg }],
});

/** Returns undefined for text that is not JSON in UTF-8. Drops the error because it would quote the text. */
const parseJson = (bytes: Buffer): unknown => {
  try {
    return isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return undefined;
  }
};

/** A valid body. Members outside the schema may have any value. */
type Body = Readonly<Record<string, unknown>>;

type Request = OutputBounds & Pick<RequestDigest, 'model' | 'isStreamed' | 'input'>;

interface Reader {
  readonly schema: z.ZodType<Body>;
  readonly read: (body: Body, bodyBytes: number) => Request;
}

const READERS: Readonly<Record<RequestKind, Reader>> = {
  delegated_chat: {
    schema: chatRequestSchema,
    read: (body, bodyBytes) => ({ ...readChat(body, bodyBytes), model: PUBLIC_MODEL, choicesWanted: 1 }),
  },
  chat: { schema: gatewayChatRequestSchema, read: (body, bodyBytes) => readChat(body, bodyBytes) },
  completions: {
    schema: gatewayCompletionRequestSchema,
    read: (body, bodyBytes) => ({
      model: modelOf(body),
      isStreamed: body['stream'] === true,
      ...completionBounds(body),
      input: textSize(bodyBytes),
    }),
  },
  embeddings: {
    schema: gatewayEmbeddingsRequestSchema,
    read: (body, bodyBytes) => ({
      model: modelOf(body),
      isStreamed: false,
      ...NO_OUTPUT,
      // Some providers embed messages with media.
      input: chatSize(bodyBytes, body['messages']),
    }),
  },
};

/** Embeddings generate no text. */
const NO_OUTPUT: OutputBounds = {
  outputTokensMax: undefined,
  outputTokensMin: 0,
  outputTokensExtra: 0,
  choicesWanted: 0,
};

/** Truncates names that are too long for any model. No route matches them either way. */
const modelOf = (body: Body): string => String(body['model']).slice(0, MODEL_NAME_CHARACTERS_MAX + 1);

const readChat = (body: Body, bodyBytes: number): Request => ({
  model: modelOf(body),
  isStreamed: body['stream'] === true,
  ...chatBounds(body),
  input: chatSize(bodyBytes, body['messages']),
});
