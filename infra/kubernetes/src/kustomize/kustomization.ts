import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

const literals = z.array(z.string()).optional();

/** Supported part of kustomize; anything else throws, so that it cannot be ignored by accident. */
const kustomizationSchema = z.strictObject({
  apiVersion: z.enum(['kustomize.config.k8s.io/v1beta1', 'kustomize.config.k8s.io/v1alpha1']),
  kind: z.enum(['Kustomization', 'Component']),
  namespace: z.string().optional(),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  labels: z.array(z.strictObject({ pairs: z.record(z.string(), z.string()) })).default([]),
  configMapGenerator: z
    .array(
      z.strictObject({
        name: z.string(),
        behavior: z.literal('merge').optional(),
        literals,
        files: literals,
        options: z.strictObject({ disableNameSuffixHash: z.boolean() }).optional(),
      }),
    )
    .default([]),
  images: z
    .array(
      z.strictObject({
        name: z.string(),
        newName: z.string().optional(),
        newTag: z.string().optional(),
        digest: z.string().optional(),
      }),
    )
    .default([]),
  patches: z
    .array(
      z.strictObject({
        path: z.string(),
        target: z.strictObject({ kind: z.string(), name: z.string().optional() }).optional(),
      }),
    )
    .default([]),
});

export type Kustomization = z.infer<typeof kustomizationSchema>;
export type ConfigMapSource = Kustomization['configMapGenerator'][number];

/** kubectl reads YAML 1.1, where `off` is a boolean and 0555 an octal number. */
const YAML_1_1 = { version: '1.1' } as const;

/** Reads the kustomization of a folder. Throws if it uses an unsupported feature. */
export const readKustomization = (folder: URL): Kustomization =>
  kustomizationSchema.parse(parse(readFileSync(new URL('kustomization.yaml', folder), 'utf8'), YAML_1_1));

/** Reads all documents of a YAML file. Throws if it does not parse. */
export const readDocuments = (url: URL): unknown[] => parseDocuments(readFileSync(url, 'utf8'), url.pathname);

/** Parses all documents of a text. Throws if it does not parse. */
export const parseDocuments = (text: string, source: string): unknown[] => {
  const documents = parseAllDocuments(text, YAML_1_1);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${source}: ${error.message}`);
    return document.toJS();
  });
};
