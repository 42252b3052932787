import { text } from 'node:stream/consumers';

/** The parts of a CycloneDX document that differ between two runs of npm. */
interface Sbom {
  serialNumber?: string;
  metadata: { timestamp: string };
}

const seconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0);
// npm writes both fields.
const sbom = JSON.parse(await text(process.stdin)) as Sbom;
delete sbom.serialNumber;
sbom.metadata.timestamp = new Date(seconds * 1_000).toISOString();
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
