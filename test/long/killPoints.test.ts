/** As test/worker/killPoints.test.ts, ten times as long. */
import { describeKillPoints } from '../worker/support/killWorld';

describeKillPoints(200);
