import { z } from 'zod';

const whole = z.coerce.number().int().min(0).max(10_000_000);
const flag = z.literal('').transform(() => true);

/** All directives that a prompt may contain as `[[name]]` or `[[name=value]]`, with the form of the value. */
const directiveSchema = z.object({
  /** Waits this long before responding. */
  delay_ms: whole.optional(),
  /** Responds with this error status and bills nothing. */
  status: z.coerce.number().int().min(400).max(599).optional(),
  /** Seconds in the `Retry-After` header of the error from `status`. */
  retry_after: whole.optional(),
  /** Closes the connection without a response and bills nothing. */
  reset: flag.optional(),
  /** Splits the answer into this many content chunks. */
  chunks: whole.pipe(z.number().min(1)).optional(),
  /** Waits this long before each content chunk. */
  chunk_delay_ms: whole.optional(),
  /** Closes the connection after this many content chunks; the whole answer is billed. */
  drop_after: whole.optional(),
  /** Sends an error event after this many content chunks, then ends without `[DONE]`. */
  error_after: whole.optional(),
  /** Ends the stream cleanly but without `[DONE]`. */
  no_done: flag.optional(),
  /** Writes the stream in pieces of this many bytes, splitting events and characters. */
  fragment_bytes: whole.pipe(z.number().min(1)).optional(),
  /** Omits usage. */
  no_usage: flag.optional(),
  /** Names this model in the response. */
  model: z.string().min(1).optional(),
  /** Omits the `x-request-id` header. */
  no_request_id: flag.optional(),
  /** Omits `id` in the body. */
  no_id: flag.optional(),
  /** Responds 200 with a body that is not JSON. */
  garbage: flag.optional(),
  /** Answers with the prompt without its directives. */
  echo: flag.optional(),
  /** Calls this tool, or the first one offered. */
  tool_call: z.string().optional(),
  /** Makes the answer exactly this many tokens long. */
  answer_tokens: whole.pipe(z.number().min(1)).optional(),
  /** Reports and bills this many input tokens. */
  prompt_tokens: whole.optional(),
  /** Reports and bills this many output tokens. */
  completion_tokens: whole.optional(),
});

/** Parsed directives of a prompt. */
export type Directives = z.infer<typeof directiveSchema>;

const DIRECTIVE = /\[\[([a-z_]+)(?:=([^\]]*))?\]\]/g;

/**
 * Parses the directives of a prompt and returns the prompt without them. Unknown names stay text. Throws
 * `DirectiveError` for an invalid value of a known name, so that a typo does not make a test pass.
 */
export const readDirectives = (prompt: string): { directives: Directives; text: string } => {
  const found: Record<string, string> = {};
  const text = prompt.replaceAll(DIRECTIVE, (whole: string, name: string, value: string | undefined) => {
    if (!Object.hasOwn(directiveSchema.shape, name)) return whole;
    found[name] = value ?? '';
    return '';
  });
  const parsed = directiveSchema.safeParse(found);
  if (!parsed.success) throw new DirectiveError(parsed.error.issues.map((issue) => issue.path.join('.')));
  return { directives: parsed.data, text: text.trim() };
};

/** Thrown for an invalid directive value. */
export class DirectiveError extends Error {
  constructor(names: readonly string[]) {
    super(`These directives have an invalid value: ${names.join(', ')}.`);
    this.name = 'DirectiveError';
  }
}
