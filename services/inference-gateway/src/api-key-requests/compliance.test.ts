import type { ComplianceMetadata } from '@svc/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanResponse } from '../wire/index.ts';
import { coversModel, stampBody } from './compliance.ts';

test.each([
  ['chat-1', 'chat-1'],
  ['chat-1', 'chat-1-2026-06-01'],
  ['chat-1', 'chat-1:latest'],
  ['chat-1', 'chat-1@eu'],
  ['chat-1', 'vendor/chat-1'],
  ['chat-1', 'vendor/chat-1-fp8'],
  ['vendor/chat-1', 'chat-1'],
  ['vendor/chat-1', 'vendor/chat-1:tag'],
  ['a/b/chat-1', 'a/b/chat-1'],
])('%s covers %s', (route, answered) => expect(coversModel(route, answered)).toBe(true));

test.each([
  ['chat-1', 'chat-2'],
  ['chat-1', 'chat-10'],
  ['chat-1', 'chat'],
  ['chat-1', 'chat-1-'],
  ['chat-1', 'chat-1.5'],
  ['chat-1', 'Chat-1'],
  ['vendor/chat-1', 'other/chat-1'],
  ['chat-1', ''],
  ['chat-1', 'chat-1/other'],
])('%s does not cover %s', (route, answered) => expect(coversModel(route, answered)).toBe(false));

const metadata: ComplianceMetadata = {
  schema_version: '2',
  provider: 'P',
  model: 'm',
  data_zone: 'EU',
  ingress_region: 'r',
  upstream_request_id: 'u',
  gateway_request_id: 'g',
  timestamp: 't',
};
const stamp = (text: string, provenance?: string): string => {
  const bytes = Buffer.from(text);
  return Buffer.concat(stampBody(bytes, scanResponse(bytes), { compliance_metadata: metadata, provenance })).toString();
};
const TEXT = JSON.stringify(metadata);

test('adds the extension and leaves every other byte unchanged', () => {
  expect(stamp('{ "a" : 1.0,\n"b":"\\u00e9" }\n')).toBe(
    `{ "a" : 1.0,\n"b":"\\u00e9","extensions":{"compliance_metadata":${TEXT}} }\n`,
  );
  expect(stamp('{}')).toBe(`{"extensions":{"compliance_metadata":${TEXT}}}`);
});

test("keeps the provider's own extensions", () => {
  expect(stamp('{"extensions":{ "x" : 1.0 },"a":1}')).toBe(
    `{"extensions":{"compliance_metadata":${TEXT}, "x" : 1.0 },"a":1}`,
  );
});

test('replaces empty compliance metadata of a provider, and nothing else', () => {
  expect(stamp('{"extensions":{"compliance_metadata" : null, "x":12345678901234567890.0}}')).toBe(
    `{"extensions":{"compliance_metadata" : ${TEXT}, "x":12345678901234567890.0}}`,
  );
  expect(JSON.parse(stamp('{"extensions":[1]}'))).toEqual({ extensions: { compliance_metadata: metadata } });
});

test('adds a proof beside the metadata, and replaces an empty one of the provider', () => {
  expect(stamp('{"a":1}', 'jws')).toBe(`{"a":1,"extensions":{"compliance_metadata":${TEXT},"provenance":"jws"}}`);
  expect(stamp('{"extensions":{"provenance":null,"x":1}}', 'jws')).toBe(
    `{"extensions":{"compliance_metadata":${TEXT},"provenance":"jws","x":1}}`,
  );
  expect(stamp('{"extensions":{"provenance":"" ,"compliance_metadata":{}}}', 'jws')).toBe(
    `{"extensions":{"provenance":"jws" ,"compliance_metadata":${TEXT}}}`,
  );
});

test('keeps any answer valid JSON with the same members', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const { extensions: _mine, ...stamped } = JSON.parse(stamp(JSON.stringify(value)));
      const { extensions: _theirs, ...sent } = JSON.parse(JSON.stringify(value));
      expect(stamped).toEqual(sent);
    }),
  );
});
