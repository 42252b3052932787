import type { SimulationReport } from './simulation.ts';

const MS_PER_MINUTE = 60_000;

interface Reported {
  readonly seed: number;
  readonly operations: number;
  readonly report: SimulationReport;
  readonly cpu: NodeJS.CpuUsage;
  readonly plant: string | undefined;
}

/** Renders the outcome of a run: one line of figures, then the counts, and the last steps before a violation. */
export const reportOf = ({ seed, operations, report, cpu, plant }: Reported): string => {
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
