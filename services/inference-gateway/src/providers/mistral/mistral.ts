import { z } from 'zod';
import { commonWire, readWireError } from '../common-wire/index.ts';
import type { FormFields, ProviderKind } from '../provider-kind.ts';

/** Mistral's La Plateforme. See the README of this folder. */
export const mistral: ProviderKind = {
  ...commonWire,
  requestIdHeaders: { primary: ['mistral-correlation-id'], secondary: ['x-request-id', 'x-kong-request-id'] },
  alwaysReportsUsage: true,
  memberNames: { seed: 'random_seed', max_completion_tokens: 'max_tokens', stream_options: null },
  // Pixtral: one token per patch of 16 by 16 pixels, at most 1024 by 1024 pixels, plus one for each of the 64 rows.
  imageTokensMax: 4_160,
  formFields: (fields) => toMistralFields(fields),
  readError: (body) => readWireError(body) ?? readFieldErrors(body),
};

/** Drops the prompt and the format, which Mistral does not support. It returns segments if timestamps are requested. */
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

/** Parses validation errors, which are FastAPI's list inside Mistral's error object. */
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
