# Reads the JUnit report of ctest, prints every test that was skipped with its reason, then, alone on the last line,
# "N passed, N failed, N skipped". Exits 1 when a test failed or none ran.
#
# A test that ctest could not start ("notrun" without a skip rule having matched) has failed. The reason of a skip is
# what the test said: the line after GoogleTest's "file:line: Skipped", else its first line.

function unescape(text) {
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "'", text)
  gsub(/&amp;/, "\\&", text)
  return text
}
function attribute(line, name,    value) {
  value = line
  if (!sub(".* " name "=\"", "", value)) return ""
  sub("\".*", "", value)
  return unescape(value)
}

/<testcase / { name = attribute($0, "name"); status = attribute($0, "status"); rule = ""; reason = ""; first = ""; next_is_reason = 0 }
/<skipped /  { rule = attribute($0, "message") }

# The output of a test: every line that is not a tag of the report.
{
  line = $0
  sub(/^.*<system-out>/, "", line); sub(/<\/system-out>.*$/, "", line)
  is_output = line !~ /^[ \t]*<\/?(testcase|testsuite|skipped|failure)/ && line !~ /^[ \t]*$/
  if (is_output && first == "") first = line
  if (is_output && next_is_reason && reason == "") reason = line
  if (line ~ /: Skipped$/) next_is_reason = 1
}

/<\/testcase>/ {
  if (status == "run") passed++
  else if (status == "disabled" || rule ~ /^SKIP_/) {
    skipped++
    list = list sprintf("  %s: %s\n", name, unescape(reason != "" ? reason : first))
  } else failed++
}

END {
  if (skipped > 0) printf "\nSkipped, and why:\n%s", list
  printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
  if (failed > 0 || passed == 0) exit 1
}
