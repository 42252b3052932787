import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';
import { type SimulationReport, simulate } from './simulation.ts';

const MS_PER_MINUTE = 60_000;

interface Reported {
  readonly seed: number;
  readonly operations: number;
  readonly report: SimulationReport;
  readonly cpu: NodeJS.CpuUsage;
  readonly plant: string | undefined;
}

/** Renders the outcome of a run: one line of figures, then the counts, and the last steps before a violation. */
const reportOf = ({ seed, operations, report, cpu, plant }: Reported): string => {
  const { steps, realMs, virtualMs, hash, violation } = report;
  const perMinute = Math.round((report.operations / realMs) * MS_PER_MINUTE);
  const cpuMs = (cpu.user + cpu.system) / 1_000 / report.operations;
  const lines = [
    `seed ${seed}: ${report.operations} operations, ${steps} steps, ${Math.round(virtualMs / 1_000)} virtual seconds, ` +
      `${Math.round(realMs / 1_000)} real seconds, ${perMinute} operations and ${Math.round((steps / realMs) * MS_PER_MINUTE)} steps a minute, ` +
      `${cpuMs.toFixed(2)} ms of processor time in Node.js per operation, trace ${hash}`,
    [...report.counts].map(([name, count]) => `${name} ${count}`).join(', '),
    ...report.deadlocks.map((deadlock) => `deadlock, resolved as PostgreSQL would: ${deadlock}`),
  ];
  if (violation === undefined) return lines.join('\n');
  const planted = plant === undefined ? '' : ` --plant ${plant}`;
  const replay = `npx pnpm --filter @svc/simulation simulate --seed ${seed} --operations ${operations} --until ${violation.step}${planted}`;
  return [
    ...lines,
    ...violation.lines,
    `VIOLATION at step ${violation.step}: ${violation.text}`,
    `replay: ${replay}`,
  ].join('\n');
};

const OPERATIONS = 3_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    operations: { type: 'string' },
    until: { type: 'string' },
    minutes: { type: 'string' },
    plant: { type: 'string' },
    trace: { type: 'boolean' },
    hashes: { type: 'boolean' },
    template: { type: 'string' },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
const operations = values.operations === undefined ? OPERATIONS : Number(values.operations);

const runOne = async (): Promise<void> => {
  const began = process.cpuUsage();
  const report = await simulate({
    seed,
    operations,
    ...(values.until === undefined ? {} : { untilStep: Number(values.until) }),
    ...(values.plant === undefined ? {} : { plant: values.plant }),
    ...(values.trace === true ? { onLine: (line: string) => console.log(line) } : {}),
    ...(values.hashes === true ? { onHash: (step: number, hash: string) => console.log(`${step} ${hash}`) } : {}),
    template: values.template,
  });
  console.log(reportOf({ seed, operations, report, cpu: process.cpuUsage(began), plant: values.plant }));
  if (report.violation !== undefined) process.exitCode = 1;
};

if (values.minutes === undefined) await runOne();
else process.exitCode = (await runCampaign({ minutes: Number(values.minutes), operations, firstSeed: seed })) ? 0 : 1;
