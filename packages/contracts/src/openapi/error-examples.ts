import { type ErrorCode, type ErrorShape, errorCodes, oauthErrorCode, wireErrorType } from '../core/index.ts';
import { exampleId } from './example-values.ts';
import type { JsonSchema } from './schemas.ts';

const RESETS_AT = '2026-10-05T00:00:00.000Z';
const MANAGE_URL = `https://svc.example/connections#${exampleId('app')}`;
const FITTING = { available_micros: 1_200, needed_micros: 2_459, affordable_output_tokens: 1_958 };
const FIRST_REQUEST = { request_id: exampleId('req'), state: 'settled' };

/** Members beside code and message, by code. */
const MEMBERS: Partial<Record<ErrorCode, object>> = {
  app_budget_expired: { manage_url: MANAGE_URL },
  app_limit_exceeded: { resets_at: RESETS_AT, manage_url: MANAGE_URL },
  connection_paused: { manage_url: MANAGE_URL },
  duplicate_request: FIRST_REQUEST,
  monthly_limit_exceeded: { resets_at: RESETS_AT, extra: { reason: 'wallet' } },
  insufficient_balance: FITTING,
  key_monthly_limit_exceeded: FITTING,
  member_monthly_limit_exceeded: FITTING,
  subscription_inactive: { manage_url: 'https://svc.example/plans' },
  second_factor_required: { challenge: 'q8sV2Jt1mZ0xN4bY', factors: ['totp', 'recovery_code'] },
  weekly_limit_exceeded: { resets_at: RESETS_AT, extra: { reason: 'ceiling' } },
};

/** Collects the examples of errors that operations refer to. */
export interface ErrorExamples {
  /** Returns references to the examples of these codes, by code. */
  readonly add: (shape: ErrorShape, codes: readonly ErrorCode[]) => Readonly<Record<string, JsonSchema>>;
  readonly components: Record<string, JsonSchema>;
}

export const createErrorExamples = (): ErrorExamples => {
  const components: Record<string, JsonSchema> = {};
  const add: ErrorExamples['add'] = (shape, codes) =>
    Object.fromEntries(
      codes.map((code) => {
        const name = `${shape}.${code}`;
        components[name] ??= { summary: errorCodes[code].description, value: errorBodyExample(shape, code) };
        return [code, { $ref: `#/components/examples/${name}` }];
      }),
    );
  return { add, components };
};

/** Returns the body of an error in a shape. */
export const errorBodyExample = (shape: ErrorShape, code: ErrorCode): object => {
  const definition = errorCodes[code];
  const message = definition.description;
  switch (shape) {
    case 'detail':
      return { detail: { ...MEMBERS[code], code, message } };
    case 'oauth':
      return { error: oauthErrorCode(definition), error_description: message };
    case 'wire':
      return {
        error: {
          message,
          type: wireErrorType(definition.status),
          param: null,
          code,
          ...MEMBERS[code],
        },
      };
  }
};
