import { z } from 'zod';
import type { DeployedService } from './overlays.ts';

/** Imports the schema of a service's environment from source; no package here depends on a service. */
export const configSchemaOf = async (service: DeployedService): Promise<z.ZodObject> => {
  const url = new URL(`../../../../services/${service}/src/config.ts`, import.meta.url);
  const module: Record<string, unknown> = await import(url.href);
  const schema = Object.values(module).find((value) => value instanceof z.ZodObject);
  if (schema === undefined) throw new Error(`${service} exports no schema of its environment.`);
  return schema;
};
