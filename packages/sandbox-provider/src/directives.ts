import { z } from 'zod';

const whole = z.coerce.number().int().min(0).max(10_000_000);
const flag = z.literal('').transform(() => true);

/** Every directive that a prompt may carry as `[[name]]` or `[[name=value]]`, and the form of its value. */
const directiveSchema = z.object({
  /** Waits so long before answering anything. */
  delay_ms: whole.optional(),
  /** Answers this error status instead; it bills nothing. */
  status: z.coerce.number().int().min(400).max(599).optional(),
  /** Seconds for the `Retry-After` header of the error asked for by `status`. */
  retry_after: whole.optional(),
  /** Closes the connection before any answer; bills nothing. */
  reset: flag.optional(),
  /** Splits the answer into so many content chunks. */
  chunks: whole.pipe(z.number().min(1)).optional(),
  /** Waits so long before each content chunk. */
  chunk_delay_ms: whole.optional(),
  /** Closes the connection after so many content chunks; the whole answer is billed all the same. */
  drop_after: whole.optional(),
  /** Sends an error event after so many content chunks, then ends without `[DONE]`. */
  error_after: whole.optional(),
  /** Ends the stream properly but without `[DONE]`. */
  no_done: flag.optional(),
  /** Writes the stream in pieces of so many bytes, cutting through events and characters. */
  fragment_bytes: whole.pipe(z.number().min(1)).optional(),
  /** Leaves usage out of the answer. */
  no_usage: flag.optional(),
  /** Names this model in the answer. */
  model: z.string().min(1).optional(),
  /** Leaves the `x-request-id` header out. */
  no_request_id: flag.optional(),
  /** Leaves `id` out of the body. */
  no_id: flag.optional(),
  /** Answers 200 with a body that is not JSON. */
  garbage: flag.optional(),
  /** Answers the prompt itself, without its directives. */
  echo: flag.optional(),
  /** Calls this tool, or the first one offered. */
  tool_call: z.string().optional(),
  /** Makes the answer exactly so many tokens long. */
  answer_tokens: whole.pipe(z.number().min(1)).optional(),
  /** Reports and bills so many input tokens. */
  prompt_tokens: whole.optional(),
  /** Reports and bills so many output tokens. */
  completion_tokens: whole.optional(),
});

/** What a prompt asks the sandbox to play. */
export type Directives = z.infer<typeof directiveSchema>;

const DIRECTIVE = /\[\[([a-z_]+)(?:=([^\]]*))?\]\]/g;

/**
 * The directives of a prompt, and the prompt without them. Unknown names stay ordinary text; a known one with a value that
 * it cannot take throws `DirectiveError`, so that a test does not pass by a typo.
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

/** A prompt carries a directive with a value that the sandbox cannot read. */
export class DirectiveError extends Error {
  constructor(names: readonly string[]) {
    super(`These directives have a bad value: ${names.join(', ')}.`);
    this.name = 'DirectiveError';
  }
}
