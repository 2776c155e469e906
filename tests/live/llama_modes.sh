# The modes of llama.sh, which sources this file: each asks, and checks what came out.
# shellcheck shell=bash disable=SC2154
ALL=33 HALF=14 FEW=5 # requests of the whole task set, of a sample of 50 %, and of 20 %
v1=(-p $prompts/v1.json)

start_server false

run chat --sample 50% --export-recording "$out/chat"
none_failed chat $HALF
check "times to first token, read again without tare" python3 $oracle ttft "$out/chat" "$(csv chat latency.ttft)"
check "no journal is left" gone "$out/chat.h5.journal"

run completions "${v1[@]}" --export-recording "$out/completions"
none_failed completions $ALL
check "times to first token, read again without tare" \
    python3 $oracle ttft "$out/completions" "$(csv completions latency.ttft)"
# Its numbers come from another machine: near-ties of two tokens may fall otherwise.
check "nine of ten replies are those of the recording that ships" \
    python3 $oracle same "$out/completions" $smoke/recording/v1 --allow 0.1
check "what was sent was counted by the server" counted completions $ALL
check "the run is fit for the gate" fit_for_gate completions

replay replayed_run "$out/completions.h5"
check "a replay of the run gives the same cubes" same_cubes "$out/completions.h5" "$out/replayed_run.h5"
replay replayed_folder "$out/completions"
check "a replay of the exported recording gives the same cubes" \
    same_cubes "$out/completions.h5" "$out/replayed_folder.h5"

run chat_whole --no-stream --sample 20%
none_failed chat_whole $FEW
equal "times to first token without a stream" 0 "$(values chat_whole latency.ttft)"
run completions_whole "${v1[@]}" --no-stream --sample 20% --export-recording "$out/completions_whole"
none_failed completions_whole $FEW
run completions_few "${v1[@]}" --sample 20% --export-recording "$out/completions_few"
check "whole replies say what streams say" python3 $oracle same "$out/completions_whole" "$out/completions_few" --allow 0.2

run concurrency "${v1[@]}" --concurrency 4 --sample 50%
check "never more than 4 on their way" said concurrency 'at most [1-4]$'
none_failed concurrency $HALF
run rate "${v1[@]}" --rate 2 --arrivals constant --sample 20%
none_failed rate $FEW
check "the rate is told beside the one asked for" said rate 'begun: .* of 2/s scheduled'
run repeat "${v1[@]}" --sample 20% --repeat 2 --shuffle --warmup 2
none_failed repeat $((2 * FEW))
run few_bounds "${v1[@]}" --sample 20% --repeat 5 --max-requests 3
check "no more than 3 were sent" at_most 3 "$(count few_bounds reply.failed 0)"

run reference "${v1[@]}" --history reference --sample 20%
none_failed reference $FEW
run no_bodies "${v1[@]}" --sample 20% --keep-bodies none
none_failed no_bodies $FEW
check "no reply's words are in it" lacks_text "$out/no_bodies.h5" "$out/completions_few"
replay no_bodies_replayed "$out/no_bodies.h5"
check "it replays to the same cubes" same_cubes "$out/no_bodies.h5" "$out/no_bodies_replayed.h5"

run first "${v1[@]}" --sample 50% --interleave "$out/second.h5" --interleave-prompt $prompts/v2.json --block 2
none_failed first $HALF
none_failed second $HALF
check "both are compared" compares first second

echo "killed: kill -9 three times at whatever moment, then --resume"
before=$(posts) resume=()
for bytes in 1000 4000 20000; do
    "$tare" run --taskset $smoke --endpoint "$url/v1" --model gemma-3-270m -o "$out/killed.h5" "${v1[@]}" --sample 50% \
        "${resume[@]}" 2>"$out/killed.first" &
    asking=$!
    wait_for_journal killed $bytes
    kill -9 $asking && wait $asking 2>/dev/null
    resume=(--resume)
done
run killed "${v1[@]}" --sample 50% --resume
none_failed killed $HALF
check "it says that it was resumed" said killed resumed
check "what was answered was not asked again" at_most $((HALF + 3)) $(($(posts) - before))

echo "interrupted: SIGTERM, then --resume"
"$tare" run --taskset $smoke --endpoint "$url/v1" --model gemma-3-270m -o "$out/interrupted.h5" "${v1[@]}" \
    --sample 50% 2>"$out/interrupted.first" &
asking=$!
wait_for_journal interrupted 5000
kill -TERM $asking
wait $asking
equal "exit code" 3 $?
check "the run file is there, and whole" "$tare" inspect "$out/interrupted.h5"
run interrupted "${v1[@]}" --sample 50% --resume
none_failed interrupted $HALF

echo "server gone: its end in the middle of a run, then --resume"
"$tare" run --taskset $smoke --endpoint "$url/v1" --model gemma-3-270m -o "$out/gone.h5" "${v1[@]}" --sample 50% \
    --retries 1 2>"$out/gone.first" &
asking=$!
wait_for_journal gone 5000
stop_server
wait $asking
equal "exit code" 4 $?
start_server false
run gone "${v1[@]}" --sample 50% --resume
none_failed gone $HALF

# Streams of this server say nothing of it: 200, and an empty body.
echo "too long: a prompt of more tokens than the server's context"
mkdir -p "$out/long" && python3 - "$out/long/taskset.json" <<'P'
import json, sys
words = " ".join(f"Room {n} costs {n} euros." for n in range(400))
turn = {"user": "How much is room 7?", "max_tokens": 8, "intent": {"entities": [{"text": "7"}]}}
tasks = [{"id": "long", "documents": [{"id": "rooms", "text": words}], "turns": [turn]}]
json.dump({"schema": 1, "name": "long", "version": "1", "context_limit": 1024, "tasks": tasks}, open(sys.argv[1], "w"))
P
asked=$out/long
run too_long_whole "${v1[@]}" --no-stream
equal "prompts that were refused for their length" 1 "$(count too_long_whole context.truncated 1)"
want=4 run too_long "${v1[@]}" --retries 0
equal "empty answers that count as failed" 1 "$(count too_long reply.failed 1)"
asked=$smoke

stop_server
echo "a server that cuts the reply before when a request comes, as it does unless told otherwise"
start_server true
want=4 run cut "${v1[@]}" --concurrency 2 --sample 50% --retries 0
[ "$(count cut reply.failed 1)" -gt 0 ] && ok "replies that were cut count as failed" || bad "no cut reply was seen"
