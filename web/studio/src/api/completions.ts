// SPDX-License-Identifier: Apache-2.0
// The OpenAI-compatible routes as the code room uses them: text that comes piece by piece.
import { ApiError, send } from './client';
import { EventParser, readEvents } from './event-parser';

export interface CompletionRequest {
  model: string;
  prompt: string;
  suffix?: string;
  max_tokens?: number;
  temperature?: number;
  seed?: number;
  stop?: string[];
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  max_tokens?: number;
  temperature?: number;
  seed?: number;
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}

interface Chunk {
  choices?: {
    text?: string;
    delta?: { content?: string | null };
    finish_reason?: string | null;
  }[];
  usage?: Usage | null;
  error?: { message: string };
}

export interface Streamed {
  finish: string;
  usage: Usage | undefined;
}

async function stream(
  path: string,
  body: object,
  take: (text: string) => void,
  signal?: AbortSignal,
): Promise<Streamed> {
  const response = await send(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
    signal,
  });
  const result: Streamed = { finish: '', usage: undefined };
  let isComplete = false;
  const parser = new EventParser(({ data }) => {
    if (data === '[DONE]') {
      isComplete = true;
      return;
    }
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) throw new ApiError('internal', chunk.error.message);
    const choice = chunk.choices?.[0];
    const text = choice?.text ?? choice?.delta?.content;
    if (text) take(text);
    if (choice?.finish_reason) result.finish = choice.finish_reason;
    if (chunk.usage) result.usage = chunk.usage;
  });
  await readEvents(response, parser);
  if (!isComplete && !signal?.aborted) {
    throw new ApiError('offline', 'The connection broke before the answer was complete.');
  }
  return result;
}

export const streamCompletion = (
  request: CompletionRequest,
  take: (text: string) => void,
  signal?: AbortSignal,
) => stream('v1/completions', request, take, signal);

export const streamChat = (
  request: ChatRequest,
  take: (text: string) => void,
  signal?: AbortSignal,
) => stream('v1/chat/completions', request, take, signal);
