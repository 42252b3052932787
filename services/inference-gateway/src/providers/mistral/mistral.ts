import { z } from 'zod';
import { commonWire, readWireError } from '../common-wire/index.ts';
import type { FormFields, ProviderKind } from '../provider-kind.ts';

/** Mistral's La Plateforme; see the README of this folder. */
export const mistral: ProviderKind = {
  ...commonWire,
  requestIdHeaders: { primary: ['mistral-correlation-id'], secondary: ['x-request-id', 'x-kong-request-id'] },
  alwaysReportsUsage: true,
  memberNames: { seed: 'random_seed', max_completion_tokens: 'max_tokens', stream_options: null },
  // Pixtral cuts an image of at most 1024 by 1024 pixels into patches of 16, with a token behind each of the 64 rows.
  imageTokensMax: 4_160,
  formFields: (fields) => toMistralFields(fields),
  readError: (body) => readWireError(body) ?? readFieldErrors(body),
};

/** There is no prompt and no choice of format: segments come where timestamps are asked for. */
const toMistralFields = (fields: FormFields): FormFields => {
  const kept = new Map([...fields].filter(([name]) => name !== 'prompt' && name !== 'response_format'));
  if (fields.get('response_format') === 'verbose_json') kept.set('timestamp_granularities', 'segment');
  return kept;
};

const fieldErrors = z.object({
  message: z.object({
    detail: z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })).min(1),
  }),
  type: z.string().nullish().catch(null),
});

/** Faults of single fields stand as FastAPI's list within Mistral's own error object. */
const readFieldErrors: ProviderKind['readError'] = (body) => {
  const parsed = fieldErrors.safeParse(body);
  if (!parsed.success) return undefined;
  const { message, type } = parsed.data;
  const faults = message.detail.map(({ loc, msg }) => ({ param: loc.slice(1).join('.'), msg }));
  return {
    message: faults.map(({ param, msg }) => `${param}: ${msg}`).join('; '),
    type: type ?? null,
    param: faults[0]?.param ?? null,
    code: null,
  };
};
