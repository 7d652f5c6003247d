// SPDX-License-Identifier: Apache-2.0
// The job and the item that the address names, so that a result is there again after a reload.
import { useEffect, useState } from 'preact/hooks';
import type { Item, Job } from '../api/types';
import { messageOf } from '../api/client';
import { fetchJob, jobs } from './jobs';
import { fetchItem } from './library';

export interface Result {
  job: Job | undefined;
  item: Item | undefined;
  fault: string;
}

interface Loaded {
  id: string;
  item?: Item;
  fault: string;
}

/** Either id may be empty. The item of a job comes by itself when the job is done. */
export function useResult(jobId: string, itemId: string): Result {
  const job = jobId ? jobs.value.find(({ id }) => id === jobId) : undefined;
  const wanted = itemId || job?.result || '';
  const [loaded, setLoaded] = useState<Loaded>({ id: '', fault: '' });
  useEffect(() => {
    if (!jobId || job) return;
    fetchJob(jobId).catch((error) => setLoaded({ id: jobId, fault: messageOf(error) }));
  }, [jobId, job !== undefined]);
  useEffect(() => {
    let isMine = true;
    if (!wanted) return undefined;
    fetchItem(wanted)
      .then((item) => isMine && setLoaded({ id: wanted, item, fault: '' }))
      .catch((error) => isMine && setLoaded({ id: wanted, fault: messageOf(error) }));
    return () => {
      isMine = false;
    };
  }, [wanted, job?.state]);
  const isIt = loaded.id === wanted || loaded.id === jobId;
  return {
    job,
    item: loaded.id === wanted ? loaded.item : undefined,
    fault: isIt ? loaded.fault : '',
  };
}
