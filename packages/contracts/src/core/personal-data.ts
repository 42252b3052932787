import { z } from 'zod';
import { pathIdSchema } from './ids.ts';
import { defineRoute, json, type ServiceName } from './route.ts';

/** A person's data at one service: rows by section, without secrets. */
export const personalDataSchema = z
  .record(z.string(), z.array(z.looseObject({})))
  .meta({ id: 'PersonalData', description: 'Rows by section. Columns may be added.' });

/** Defines the internal route on which a service hands over what it holds about a person. */
export const personalDataRoute = <const S extends ServiceName, const N extends string>(service: S, operationId: N) =>
  defineRoute({
    service,
    caller: 'service',
    callers: ['auth'],
    errorShape: 'detail',
    tag: 'Internal',
    operationId,
    method: 'GET',
    path: `/internal/${service}/personal-data/{svc_user_id}`,
    summary: 'Stream everything that the service holds about a person',
    request: { params: z.object({ svc_user_id: pathIdSchema }) },
    responses: { 200: json('The data.', personalDataSchema) },
    errors: [],
  });
