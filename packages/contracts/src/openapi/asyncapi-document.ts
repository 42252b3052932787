import { allEvents } from '../events.ts';
import {
  accountEventSchema,
  STANDARD_WEBHOOK_HEADERS,
  WEBHOOK_API_VERSION,
  WEBHOOK_SIGNATURE_HEADER,
  webhookEventSchema,
} from '../webhook-dispatcher/index.ts';
import { webhookDescriptions } from './descriptions.ts';
import { exampleOf } from './example-of.ts';
import { createSchemaCollector, type JsonSchema, type SchemaCollector } from './schemas.ts';

type EventSchema = (typeof webhookEventSchema.options)[number] | (typeof accountEventSchema.options)[number];

interface Channel {
  readonly title: string;
  readonly description: string;
  readonly options: readonly EventSchema[];
}

/** Kinds of webhooks: whose they are, and the events that each gets. */
const CHANNELS: Readonly<Record<string, Channel>> = {
  app: {
    title: 'Events of an app',
    description:
      'Sent to the address that the app’s owner has set with `PUT /v1/integrations/apps/{client_id}/webhook`, in the order of `sequence`.',
    options: webhookEventSchema.options,
  },
  account: {
    title: 'Events of an account',
    description:
      'Sent to the address that the account has set with `PUT /v1/console/account/webhook`, in the order of `sequence`.',
    options: accountEventSchema.options,
  },
};

/** Builds the AsyncAPI 3.0 document of the events that webhooks receive, from the schemas by which they are written. */
export const asyncapiDocument = (): JsonSchema => {
  const collector = createSchemaCollector();
  const channels = Object.entries(CHANNELS);
  const all = channels.flatMap(([, { options }]) => options);
  const messages = Object.fromEntries(all.map((option) => [nameOf(option), messageOf(option, collector)]));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'svc webhook events',
      version: WEBHOOK_API_VERSION,
      description:
        'Signed events that apps and accounts receive over HTTPS, at least once each. The HTTP API is described at `/v1/openapi.json`.',
      contact: { name: 'The operator of this server' },
      license: { name: 'All rights reserved' },
      tags: channels.map(([name, { title }]) => ({ name, description: title })),
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels.map(([name, channel]) => [name, channelOf(channel)])),
    operations: Object.fromEntries(
      channels.map(([name, channel]) => [`send-${name}-events`, operationOf(name, channel)]),
    ),
    components: { messages, messageTraits: { signed: SIGNED }, schemas: collector.components },
  };
};

const nameOf = (option: EventSchema): string => option.shape.event.value;

const channelOf = ({ title, description, options }: Channel): JsonSchema => ({
  // Each receiver chooses the address.
  address: null,
  title,
  description,
  messages: Object.fromEntries(
    options.map((option) => [nameOf(option), { $ref: `#/components/messages/${nameOf(option)}` }]),
  ),
});

const operationOf = (channel: string, { title, options }: Channel): JsonSchema => ({
  action: 'send',
  title,
  description:
    'A POST that the receiver answers with 2xx after it has committed its work. Up to eight attempts; a failed event holds up the later ones.',
  channel: { $ref: `#/channels/${channel}` },
  messages: options.map((option) => ({ $ref: `#/channels/${channel}/messages/${nameOf(option)}` })),
  bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
});

const messageOf = (option: EventSchema, collector: SchemaCollector): JsonSchema => {
  const name = option.shape.event.value;
  const payload = collector.add(option);
  const example = exampleOf(payload, { components: collector.components, isMinimal: false });
  return {
    name,
    title: name,
    summary: webhookDescriptions[name],
    contentType: 'application/json',
    traits: [{ $ref: '#/components/messageTraits/signed' }],
    payload,
    examples: [{ name: 'example', payload: example }],
  };
};

const textHeader = (description: string) => ({ type: 'string', description });

/** Headers of every delivery. */
const SIGNED = {
  headers: {
    type: 'object',
    required: [WEBHOOK_SIGNATURE_HEADER, ...Object.values(STANDARD_WEBHOOK_HEADERS)],
    properties: {
      [WEBHOOK_SIGNATURE_HEADER]: textHeader(
        '`t=<unix seconds>,v1=<hex HMAC-SHA256>` over the timestamp, a dot and the raw body. Several `v1` while a secret is rotated.',
      ),
      [STANDARD_WEBHOOK_HEADERS.id]: textHeader('The `event_id`, the same at every attempt (Standard Webhooks).'),
      [STANDARD_WEBHOOK_HEADERS.timestamp]: textHeader('Unix seconds of the attempt.'),
      [STANDARD_WEBHOOK_HEADERS.signature]: textHeader('Signatures of Standard Webhooks, separated by spaces.'),
    },
  },
};

/** Returns the `data` of every domain fact as JSON Schema, by subject. */
export const eventSchemasDocument = (): JsonSchema => {
  const collector = createSchemaCollector();
  const events = Object.fromEntries(
    allEvents.map((event) => [event.subject, { description: event.description, data: collector.add(event.schema) }]),
  );
  return { events, components: { schemas: collector.components } };
};
