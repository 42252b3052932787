import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  accountEventNames,
  accountEventSchema,
  allEvents,
  eventEnvelopeSchema,
  webhookEventNames,
  webhookEventSchema,
} from '../src/index.ts';

const folder = new URL('../samples/', import.meta.url);
const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(new URL(name, folder), 'utf8'));

describe('golden messages', () => {
  for (const event of allEvents) {
    test(`${event.subject} of the released version still parses, also with added fields`, async () => {
      const sample = await read(`events/${event.subject}.json`);
      const envelope = eventEnvelopeSchema.parse(sample);
      expect(envelope.subject).toBe(event.subject);
      expect(event.schema.parse(envelope.data)).toEqual(envelope.data);
      expect(() => event.schema.parse({ ...envelope.data, added_later: true })).not.toThrow();
    });
  }

  for (const name of [...webhookEventNames, ...accountEventNames]) {
    test(`webhook ${name} of the released version still parses`, async () => {
      const sample = await read(`webhooks/${name}.json`);
      const schema = accountEventNames.some((known) => known === name) ? accountEventSchema : webhookEventSchema;
      expect(schema.parse(sample)).toEqual(sample);
    });
  }

  test('has no sample of a removed message', async () => {
    const subjects = allEvents.map((event) => `${event.subject}.json`).sort();
    expect((await readdir(new URL('events/', folder))).sort()).toEqual(subjects);
  });
});
