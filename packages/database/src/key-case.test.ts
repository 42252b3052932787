import { expect, expectTypeOf, test } from 'vitest';
import { camelKeys, type SnakeKeys, snakeKeys } from './key-case.ts';

interface Record {
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  readonly dpopJkt?: string;
}

const record: Record = { clientId: 'app_x', redirectUris: ['https://app.example/'] };

test('maps a record to its row and back, at run time and in types', () => {
  const row = snakeKeys(record);
  expect(row).toEqual({ client_id: 'app_x', redirect_uris: ['https://app.example/'] });
  expect(camelKeys(row)).toEqual(record);
  expectTypeOf(camelKeys(row)).toEqualTypeOf<Record>();
  expectTypeOf<SnakeKeys<Record>>().toEqualTypeOf<{
    readonly client_id: string;
    readonly redirect_uris: readonly string[];
    readonly dpop_jkt?: string;
  }>();
});
