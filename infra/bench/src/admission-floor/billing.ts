import { createServer } from 'node:http';
import pg from 'pg';

// Lower bound of an admission: one statement on one connection, committed to disk, that debits a balance and records
// the request. No credential, no limits, no ledger.

const HOLD = {
  name: 'hold',
  text: `WITH taken AS (UPDATE floor_account SET held = held + $2 WHERE id = 1 AND held + $2 <= balance RETURNING id)
    INSERT INTO floor_hold (request_id, account_id, amount) SELECT $1, id, $2 FROM taken`,
};

const client = new pg.Client(process.env['DATABASE_URL']);
await client.connect();
await client.query(`
  CREATE TABLE floor_account (id integer PRIMARY KEY, balance bigint NOT NULL, held bigint NOT NULL);
  INSERT INTO floor_account VALUES (1, 1000000000000, 0);
  CREATE TABLE floor_hold (request_id text PRIMARY KEY, account_id integer NOT NULL, amount bigint NOT NULL)`);
let asked = 0;

const admit = async (): Promise<boolean> => {
  asked += 1;
  const { rowCount } = await client.query({ ...HOLD, values: [`req_${asked}`, 1] });
  return rowCount === 1;
};

createServer((req, res) => {
  req.on('data', () => {});
  req.on('end', () => {
    if (req.method === 'GET') res.end();
    else
      admit().then(
        (isAdmitted) => res.writeHead(isAdmitted ? 204 : 402).end(),
        () => res.writeHead(503).end(),
      );
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
