import { allEvents } from '../events.ts';
import { createSchemaCollector, type JsonSchema } from './schemas.ts';

/** Returns the `data` of every domain fact as JSON Schema, by subject. */
export const eventSchemasDocument = (): JsonSchema => {
  const collector = createSchemaCollector();
  const events = Object.fromEntries(
    allEvents.map((event) => [event.subject, { description: event.description, data: collector.add(event.schema) }]),
  );
  return { events, components: { schemas: collector.components } };
};
